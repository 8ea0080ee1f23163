// SPDX-License-Identifier: Apache-2.0
//
// Ops that fit tensor copies of gfx1250 to a tensor and its tile in LDS.

#ifndef FLY_DIALECT_FLYROCDL_IR_TENSOROPS_TD
#define FLY_DIALECT_FLYROCDL_IR_TENSOROPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"
include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.td"

class FlyROCDL_MakeTiledTDMAtomOp<string mnemonic>
    : Op<FlyROCDL_Dialect, mnemonic, [Pure, InferTypeOpAdaptor]> {
  let description = [{
    `atom` copies the largest box that the tile of `tensor` and the tile in LDS have in common; `coordTensor` is a tensor of
    the shape of `tensor` whose elements are positions along the descriptor's dimensions, innermost first. The result
    types are inferred and not printed. fly-rocdl-expand-ops lowers the op.
  }];
  let arguments = (ins Fly_MemRefType:$tensor, AnyType:$ldsLayout, Fly_TileType:$tiler,
                       DefaultValuedAttr<I32Attr, "1">:$numWarps,
                       DefaultValuedAttr<BoolAttr, "true">:$initBoundaryCheck,
                       DefaultValuedAttr<I32Attr, "0">:$cacheModifier,
                       DefaultValuedAttr<BoolAttr, "false">:$atomicBarrier,
                       OptionalAttr<TypeAttr>:$internalType);
  let results = (outs Fly_CopyAtomType:$atom, Fly_CoordTensorType:$coordTensor);
  let assemblyFormat = [{
    $tensor `,` $ldsLayout `,` $tiler attr-dict `:` qualified(type($tensor)) `,` type($ldsLayout) `,`
    qualified(type($tiler))
  }];
}

def FlyROCDL_MakeTiledTDMLoadAtomOp : FlyROCDL_MakeTiledTDMAtomOp<"make_tiled_tdm_load_atom"> {
  let summary = "a tensor copy from global memory to LDS, built from a tensor";
}

def FlyROCDL_MakeTiledTDMStoreAtomOp : FlyROCDL_MakeTiledTDMAtomOp<"make_tiled_tdm_store_atom"> {
  let summary = "a tensor copy from LDS to global memory, built from a tensor";
}

#endif // FLY_DIALECT_FLYROCDL_IR_TENSOROPS_TD
