// SPDX-License-Identifier: Apache-2.0
//
// Matrix operations (contract section 6.4). Their common syntax is
// `<MxNxK, (A, B) -> C, key = value, ...>`, with every key in its order.

#ifndef FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD
#define FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD

include "fly/Dialect/FlyROCDL/IR/AtomBase.td"

class FlyROCDL_Matrix<string name, string typeMnemonic, dag keys, list<Trait> traits = []>
    : FlyROCDL_MmaAtom<name, typeMnemonic, traits> {
  let parameters = !con((ins "int32_t":$m, "int32_t":$n, "int32_t":$k, "::mlir::Type":$elemTyA,
                         "::mlir::Type":$elemTyB, "::mlir::Type":$elemTyAcc), keys);
  let hasCustomAssemblyFormat = 1;
}

def FlyROCDL_CDNA3MFMAType : FlyROCDL_Matrix<"CDNA3MFMA", "cdna3.mfma", (ins)>;

def FlyROCDL_CDNA4MFMAScaleType : FlyROCDL_Matrix<"CDNA4MFMAScale", "cdna4.mfma_scale",
    (ins "int32_t":$opselA, "int32_t":$opselB), [FlyROCDL_Stateful]>;

def FlyROCDL_GFX11WMMAType : FlyROCDL_Matrix<"GFX11WMMA", "gfx11.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp)>;

def FlyROCDL_GFX120XWMMAType : FlyROCDL_Matrix<"GFX120XWMMA", "gfx120x.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp)>;

def FlyROCDL_GFX1250WMMAType : FlyROCDL_Matrix<"GFX1250WMMA", "gfx1250.wmma",
    (ins "bool":$signA, "bool":$signB, "bool":$clamp, "int32_t":$modC)>;

def FlyROCDL_GFX1250WMMAScaleType : FlyROCDL_Matrix<"GFX1250WMMAScale", "gfx1250.wmma_scale",
    (ins "int32_t":$opselA, "int32_t":$opselB, "int32_t":$modC, "bool":$reuseA, "bool":$reuseB,
     "int32_t":$blockSize), [FlyROCDL_Stateful]>;

#endif // FLY_DIALECT_FLYROCDL_IR_MMAATOMS_TD
