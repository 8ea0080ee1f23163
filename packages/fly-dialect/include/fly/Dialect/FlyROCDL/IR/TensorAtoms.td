// SPDX-License-Identifier: Apache-2.0
//
// Tensor data movement of gfx1250: copies of whole tiles.

#ifndef FLY_DIALECT_FLYROCDL_IR_TENSORATOMS_TD
#define FLY_DIALECT_FLYROCDL_IR_TENSORATOMS_TD

include "fly/Dialect/FlyROCDL/IR/AtomBase.td"

class FlyROCDL_TensorAtom<string name, string typeMnemonic, list<string> answers = []>
    : FlyROCDL_Atom<name, typeMnemonic, [FlyROCDL_WholeTile, FlyROCDL_Stateful],
                    ["getStateMembers"] # answers> {
  let hasCustomAssemblyFormat = 1;
}

def FlyROCDL_GFX1250TDMType : FlyROCDL_TensorAtom<"GFX1250TDM", "gfx1250.tdm"> {
  let summary = "tensor data mover whose geometry comes from the memref";
  let parameters = (ins "int32_t":$rank, "int32_t":$numWarps, "int32_t":$padInterval,
                        "int32_t":$padAmount, "int32_t":$cache, "bool":$barrier, "bool":$timeout);
}

def FlyROCDL_CDNA5TensorLoadType
    : FlyROCDL_TensorAtom<"CDNA5TensorLoad", "cdna5.tensor_load", ["getStateFields"]> {
  let summary = "tensor data mover built from a tensor, global to shared";
  let description = [{
    `shape` is the box in elements, outermost first; `tensorToTDM` maps the modes of the tensor to
    dimensions of the descriptor by basis elements.
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$shape, "::mlir::Type":$elem,
                        TypeParameter<"::fly::IntTuple", "tensor modes to dims">:$tensorToTDM,
                        "bool":$atomicBarrier, "int32_t":$cacheModifier, "int32_t":$iterCount,
                        "int32_t":$padInterval, "int32_t":$padAmount);
}

def FlyROCDL_CDNA5TensorStoreType
    : FlyROCDL_TensorAtom<"CDNA5TensorStore", "cdna5.tensor_store", ["getStateFields"]> {
  let summary = "tensor data mover built from a tensor, shared to global";
  let parameters = (ins ArrayRefParameter<"int32_t">:$shape, "::mlir::Type":$elem,
                        TypeParameter<"::fly::IntTuple", "tensor modes to dims">:$tensorToTDM,
                        "bool":$atomicBarrier, "int32_t":$cacheModifier, "int32_t":$iterCount);
}

#endif // FLY_DIALECT_FLYROCDL_IR_TENSORATOMS_TD
