// SPDX-License-Identifier: Apache-2.0
//
// Matrix operations. Their common syntax is
// `<MxNxK, (A, B) -> C, key = value, ...>`, with every key in its order.

#ifndef FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD
#define FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD

include "fly/Dialect/FlyROCDL/IR/AtomBase.td"

class FlyROCDL_Matrix<string name, string typeMnemonic, dag keys, list<Trait> traits = [],
                      list<string> overrides = [], list<string> answers = []>
    : FlyROCDL_MmaAtom<name, typeMnemonic, traits, overrides, answers> {
  let parameters = !con((ins "int32_t":$m, "int32_t":$n, "int32_t":$k, "::mlir::Type":$elemTyA,
                         "::mlir::Type":$elemTyB, "::mlir::Type":$elemTyAcc), keys);
  let hasCustomAssemblyFormat = 1;
}

def FlyROCDL_CDNA3MFMAType : FlyROCDL_Matrix<"CDNA3MFMA", "cdna3.mfma",
    (ins "int32_t":$blocks), [], ["isTileable"]> {
  let summary = "a matrix operation of CDNA3 and CDNA4";
  let description = [{
    A trailing `, blocks = N`, elided for 1, is an operation on N independent products in one call:
    `32x32x1` and `32x32x4` on 2, `16x16x1` and `16x16x4` on 4, `4x4x1` and `4x4x4` on 16, and
    `4x4x4` of f64 on 4. Its layouts count the blocks last, behind the indices of one matrix; it
    cannot be tiled.

    `tf32` is f32 of which the instruction reads 19 bits (xf32, gfx942); fragments of it hold f32.
  }];
}

def FlyROCDL_CDNA3SMFMACType : FlyROCDL_Matrix<"CDNA3SMFMAC", "cdna3.smfmac",
    (ins "int32_t":$indexSet), [FlyROCDL_Stateful], ["isTileable"], ["getStateMembers"]> {
  let summary = "a matrix operation of CDNA3 and CDNA4 whose A is sparse";
  let description = [{
    Of every four elements of a row of A, two are stored: A has K / 2 columns. The state
    `sparse_index`, or the second member of A's operand group, says which: 32 bits per lane, of
    which each stored element takes two, its position among its four. Where the elements of a lane
    need 8 or 16 bits only, `, indexSet = N`, elided for 0, picks which. It cannot be tiled.
  }];
}

def FlyROCDL_CDNA4MFMAScaleType : FlyROCDL_Matrix<"CDNA4MFMAScale", "cdna4.mfma_scale",
    (ins "int32_t":$opselA, "int32_t":$opselB), [FlyROCDL_Stateful], [], ["getStateMembers"]> {
  let summary = "a matrix operation of CDNA4 with E8M0 scales for 32 elements of K";
  let description = [{
    The state `scale_a` and `scale_b`, or the second members of the operand groups, are 32 bits per
    lane, of which `opselA` and `opselB` pick a byte. Where both are the constant 0, the default,
    LLVM selects the instruction without scales, a factor of 1; a byte of 0 that is not a constant
    is 2^-127.
  }];
}

def FlyROCDL_GFX11WMMAType : FlyROCDL_Matrix<"GFX11WMMA", "gfx11.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp)>;

def FlyROCDL_GFX120XWMMAType : FlyROCDL_Matrix<"GFX120XWMMA", "gfx120x.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp)>;

def FlyROCDL_GFX1250WMMAType : FlyROCDL_Matrix<"GFX1250WMMA", "gfx1250.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp, "int32_t":$modC)>;

def FlyROCDL_GFX1250WMMAScaleType : FlyROCDL_Matrix<"GFX1250WMMAScale", "gfx1250.wmma_scale",
    (ins "int32_t":$opselA, "int32_t":$opselB, "int32_t":$modC, "bool":$reuseA, "bool":$reuseB,
     "int32_t":$blockSize), [FlyROCDL_Stateful], [], ["getStateMembers"]>;

#endif // FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD
