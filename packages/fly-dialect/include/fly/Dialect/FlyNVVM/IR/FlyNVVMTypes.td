// SPDX-License-Identifier: Apache-2.0
//
// The types of the fly_nvvm dialect: matrix operations on tiles in shared memory and on registers,
// copies of boxes of tensors, and copies of small matrices by a warp.

#ifndef FLY_DIALECT_FLYNVVM_IR_FLYNVVMTYPES_TD
#define FLY_DIALECT_FLYNVVM_IR_FLYNVVMTYPES_TD

include "fly/Dialect/Fly/IR/AtomOpInterface.td"
include "fly/Dialect/Fly/IR/FlyInterfaces.td"
include "fly/Dialect/Fly/IR/MemoryOperandInterface.td"
include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.td"
include "mlir/IR/AttrTypeBase.td"

class FlyNVVM_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<FlyNVVM_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

// --- matrix operations ---------------------------------------------------------------------------

def FlyNVVM_SM90WGMMAType : FlyNVVM_Type<"SM90WGMMA", "sm90.wgmma",
    [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface, ["getStateMembers"]>,
     DeclareTypeInterfaceMethods<Fly_MmaOpTypeInterface>,
     DeclareTypeInterfaceMethods<Fly_MemoryOperandTypeInterface>,
     DeclareTypeInterfaceMethods<Fly_StatefulOpTypeInterface>]> {
  let summary = "an asynchronous product of a warpgroup of Hopper";
  let description = [{
    `<64xNxK, (A, B) -> C, registersA = false, mnMajorA = false, mnMajorB = false>`: D = A B^T + C
    by 128 threads. B is a tile in shared memory, and so is A unless `registersA` says that the
    threads hold it. Such an operand is a memref in `shared` of which the descriptor is computed: its
    layout, with the swizzle of its pointer, must be one that the hardware reads (canonical).
    `mnMajor` operands are contiguous along M or N.

    K is 256 bits of a row. Of state it has `accumulate` (i1, true in a new atom): where it is false,
    D is the product alone, and C is not read.

    The product is asynchronous: D, and A in registers, may be neither read nor written until
    `fly_nvvm.wgmma_wait` has taken and given the accumulators.
  }];
  let parameters = (ins "int32_t":$m, "int32_t":$n, "int32_t":$k, "::mlir::Type":$elemTyA,
                        "::mlir::Type":$elemTyB, "::mlir::Type":$elemTyAcc, "bool":$registersA,
                        "bool":$mnMajorA, "bool":$mnMajorB);
}

def FlyNVVM_SM80MmaSyncType : FlyNVVM_Type<"SM80MmaSync", "sm80.mma_sync",
    [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface>,
     DeclareTypeInterfaceMethods<Fly_MmaOpTypeInterface>]> {
  let summary = "a product of a warp, on registers";
  let description = [{
    `<MxNxK, (A, B) -> C>`: D = A B^T + C by 32 threads. M and N are 16 and 8, of f64 8 and 8. K is
    256 bits of a row, or 128: `16x8x16` and `16x8x8` of f16 (C is f32 or f16) and bf16, `16x8x8` and
    `16x8x4` of tf32, `16x8x32` and `16x8x16` of i8 (C is i32, and wraps); `16x8x32` of f8E4M3FN and
    f8E5M2, which may be mixed; `8x8x4` of f64.

    `tf32` is f32 of which the instruction reads 19 bits; fragments of it hold f32.
  }];
  let parameters = (ins "int32_t":$m, "int32_t":$n, "int32_t":$k, "::mlir::Type":$elemTyA,
                        "::mlir::Type":$elemTyB, "::mlir::Type":$elemTyAcc);
}

// --- copies of a warp ----------------------------------------------------------------------------

class FlyNVVM_MatrixCopy<string name, string typeMnemonic>
    : FlyNVVM_Type<name, typeMnemonic,
        [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface>,
         DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>]> {
  let parameters = (ins "int32_t":$matrices, "bool":$transposed);
}

def FlyNVVM_LdMatrixType : FlyNVVM_MatrixCopy<"LdMatrix", "ldmatrix"> {
  let summary = "a copy of 8 x 8 matrices in shared memory to the registers of a warp";
  let description = [{
    `<4, transposed = false>`: 1, 2 or 4 matrices of 8 rows of 16 bytes. Thread l names row l % 8 of
    matrix l / 8, 16 bytes side by side at a multiple of 16; of fewer than 4 matrices, the threads
    behind name the same rows again. It gets 32 bits of every matrix: of row l / 4, at 4 (l % 4)
    bytes; or, `transposed`, the 16-bit elements l / 4 of the rows 2 (l % 4) and 2 (l % 4) + 1.
    These are fragments of `sm80.mma_sync`. All threads of the warp run it together.
  }];
}

def FlyNVVM_StMatrixType : FlyNVVM_MatrixCopy<"StMatrix", "stmatrix"> {
  let summary = "a copy of 8 x 8 matrices in the registers of a warp to shared memory";
  let description = [{
    `<4, transposed = false>`: what `ldmatrix` does, the other way round.
  }];
}

// --- copies by threads ---------------------------------------------------------------------------

def FlyNVVM_SM80CpAsyncType : FlyNVVM_Type<"SM80CpAsync", "sm80.cp_async",
    [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface, ["getOperandBits"]>,
     DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>]> {
  let summary = "an asynchronous copy from global to shared memory, past the registers";
  let description = [{
    `<128>`: each thread copies 32, 64 or 128 bits, at addresses that are multiples of as much. Those
    of 128 bits pass by the L1 (`cp.async.cg`), unless they are `<128, l1 = true>`; the others go
    through it (`cp.async.ca`). Where the predicate of a call is false, nothing is read, and the
    destination is filled with zeros.

    The data are there behind `nvvm.cp.async.wait.group`, for the thread that copied them; for others
    behind a barrier that follows.
  }];
  let parameters = (ins "int32_t":$bits, DefaultValuedParameter<"bool", "false">:$l1);
  let assemblyFormat = "`<` $bits (`,` `l1` `=` $l1^)? `>`";
  let hasCustomAssemblyFormat = 0;
}

// --- tensor copies -------------------------------------------------------------------------------

defvar FlyNVVM_Box = (ins ArrayRefParameter<"int32_t">:$box, "::mlir::Type":$elem,
                          "int32_t":$swizzle);

def FlyNVVM_TensorMapType : FlyNVVM_Type<"TensorMap", "tensor_map"> {
  let summary = "the 128 bytes by which the copy engine knows a tensor";
  let description = [{
    `<[128, 64], bf16, swizzle = 128>`: copies move boxes of 128 rows of 64 elements, outermost
    extent first, which lie in shared memory one row behind the other, in the swizzle of so many
    bytes: 0, 32, 64 or 128. Host functions make tensor maps and pass them to kernels by value.
  }];
  let parameters = FlyNVVM_Box;
}

class FlyNVVM_TensorCopy<string name, string typeMnemonic, dag keys>
    : FlyNVVM_Type<name, typeMnemonic,
        [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface, ["getStateMembers"]>,
         DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface, ["isWholeTileCopy"]>,
         DeclareTypeInterfaceMethods<Fly_StatefulOpTypeInterface>]> {
  let parameters = !con(FlyNVVM_Box, keys);
}

def FlyNVVM_SM90TMALoadType
    : FlyNVVM_TensorCopy<"SM90TMALoad", "sm90.tma_load", (ins "bool":$multicast, "bool":$evictFirst)> {
  let summary = "a copy of a box of a tensor to shared memory, by the copy engine";
  let description = [{
    `<[128, 64], bf16, swizzle = 128, multicast = false, evictFirst = false>`, made of a tensor map.
    One thread issues it. State: `barrier`, a pointer to the mbarrier in shared memory that gets the
    bytes, and `multicast_mask` (i16), the workgroups of the cluster that `multicast` copies to. What
    lies outside of the tensor is zero. `evictFirst` asks the L2 to give up these lines before
    others: for what is read once.
  }];
}

def FlyNVVM_SM90TMAStoreType
    : FlyNVVM_TensorCopy<"SM90TMAStore", "sm90.tma_store", (ins)> {
  let summary = "a copy of a tile in shared memory to a box of a tensor, by the copy engine";
  let description = [{
    `<[64, 64], bf16, swizzle = 128>`, made of a tensor map. One thread issues it, behind
    `nvvm.fence.proxy` of those that wrote the tile. What lies outside of the tensor is not written.
  }];
}

def FlyNVVM_SM90TMAReduceType
    : FlyNVVM_TensorCopy<"SM90TMAReduce", "sm90.tma_reduce", (ins StringRefParameter<>:$kind)> {
  let summary = "a reduction of a tile in shared memory into a box of a tensor, by the copy engine";
  let description = [{
    `<[64, 32], f32, swizzle = 128, kind = add>`, made of a tensor map. Each element of the box becomes
    the sum, `min`, `max`, or the bits' `and`, `or`, `xor` of what it was and the tile's, as one atomic
    operation for each element, in no order. Sums are of i32, i64, f32, f16 and bf16, the least and the
    greatest of i32, i64, f16 and bf16, bits of i32 and i64; whether integers have a sign is said where
    the map is made. One thread issues it, like an `sm90.tma_store`.
  }];
}

#endif // FLY_DIALECT_FLYNVVM_IR_FLYNVVMTYPES_TD
