// SPDX-License-Identifier: Apache-2.0
//
// Passes on the fly dialect. The default pipeline runs them in the order of docs/dialect/passes.md.

#ifndef FLY_TRANSFORMS_PASSES_TD
#define FLY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FlyRewriteFuncSignaturePass : Pass<"fly-rewrite-func-signature"> {
  let summary = "Pass only run-time values across function boundaries";
  let description = [{
    Arguments and results of func.func, gpu.func, calls, launches and scf loops and conditionals lose the values that their
    types carry: static ones disappear, dynamic tuples and layouts become packed LLVM structs of their dynamic leaves, and a
    memref becomes its pointer, with the struct of its layout when that is dynamic.
  }];
  let dependentDialects = ["::fly::FlyDialect", "::mlir::LLVM::LLVMDialect"];
}

def FlyCanonicalizePass : Pass<"fly-canonicalize"> {
  let summary = "Construct every static value from its type";
  let description = [{
    make_shape, make_stride and make_coord become make_int_tuple, and each op whose result type is static is replaced by the
    constructors of that type.
  }];
  let dependentDialects = ["::fly::FlyDialect"];
}

def FlyLayoutLoweringPass : Pass<"fly-layout-lowering"> {
  let summary = "Replace tuple and layout algebra by arithmetic on dynamic leaves";
  let description = [{
    Evaluates every op whose operands are constructed by make_int_tuple, make_layout, make_composed_layout and make_view, and
    expands copies, matrix multiplications, and accesses to tensors into atom calls and accesses to pointers. Ops on other
    operands are left in place.
  }];
  let dependentDialects = ["::fly::FlyDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::vector::VectorDialect"];
}

def FlyIntSwizzleSimplifyPass : Pass<"fly-int-swizzle-simplify"> {
  let summary = "Move addends that a swizzle does not see out of it";
  let description = [{
    Finds `x xor ((x and mask) lshr s)`, where `mask` is one run of M ones from bit K and s <= K. It depends on x modulo
    P = 2^(M+K) only, so every addend of x that is a multiple of P is added after the swizzle instead. Swizzled addresses
    that differ by such a constant then share the swizzle and use immediate offsets.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FlyConvertAtomCallToSSAFormPass : Pass<"fly-convert-atom-call-to-ssa-form"> {
  let summary = "Give atom calls register operands as values instead of as memory";
  let description = [{
    An operand of a copy_atom_call or mma_atom_call is eligible when it is a memref in `register` whose plain layout
    coalesces to one leaf of stride 1 or extent 1. A call with an eligible operand becomes the `_ssa` form: eligible
    inputs are loaded before it, and an eligible destination is stored after it.
  }];
  let dependentDialects = ["::fly::FlyDialect"];
}

def FlyPromoteRegMemToVectorSSAPass : Pass<"fly-promote-regmem-to-vectorssa"> {
  let summary = "Turn register memory into vector values";
  let description = [{
    Replaces each `fly.make_ptr` in `register` and the loads and stores at static offsets from it by one vector value
    that is threaded through the region ops between them. An allocation that is reached by a recast_iter in use, or by an
    add_offset with a dynamic offset, stays in memory. Sums of large matrix instructions that a branch accesses become
    several values, as many as their accesses allow.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
}

def FlySplitUniformOffsetsPass : Pass<"fly-split-uniform-offsets"> {
  let summary = "Advance global pointers by what all threads share first";
  let description = [{
    In kernels, an `add_offset` of a global pointer by a sum becomes two: by the addends that all threads of a workgroup
    provably share, and by the others. The first stays in scalar registers.
  }];
  let dependentDialects = ["::fly::FlyDialect", "::mlir::arith::ArithDialect"];
}

def FlyROCDLClusterAttrPass : Pass<"fly-rocdl-cluster-attr"> {
  let summary = "Hand a kernel's cluster dimensions to LLVM";
  let description = [{
    The attribute `rocdl.cluster_dims = "x,y,z"` of an llvm.func becomes its passthrough entry
    `["amdgpu-cluster-dims", "x,y,z"]`.
  }];
}

def FlyROCDLExpandOpsPass : Pass<"fly-rocdl-expand-ops"> {
  let summary = "Expand ops of fly_rocdl that are made of others";
  let description = [{
    make_tiled_tdm_load_atom and make_tiled_tdm_store_atom become an atom with its construction arguments and a view of
    coordinates; `atom.set_value "boundary_check"`, which speaks of the tensor's modes, becomes "boundary_check_axes",
    which speaks of the descriptor's dimensions.
  }];
  let dependentDialects = ["::fly::FlyDialect", "::mlir::arith::ArithDialect"];
}

#endif // FLY_TRANSFORMS_PASSES_TD
