// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps, and the order of asynchronous products.

#ifndef FLY_DIALECT_FLYNVVM_IR_FLYNVVMOPS_TD
#define FLY_DIALECT_FLYNVVM_IR_FLYNVVMOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"
include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.td"
include "fly/Dialect/FlyNVVM/IR/FlyNVVMTypes.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

class FlyNVVM_Op<string mnemonic, list<Trait> traits = []> : Op<FlyNVVM_Dialect, mnemonic, traits>;

// --- tensor maps ---------------------------------------------------------------------------------

def FlyNVVM_MakeTensorMapOp : FlyNVVM_Op<"make_tensor_map",
    [AttrSizedOperandSegments, Fly_AnyEffect]> {
  let summary = "the map of a tensor in global memory, made in a host function";
  let description = [{
    `extents` are the tensor's, in elements, and `strides` the distances of its modes, in elements
    too, both innermost first; the innermost stride is 1 and not given. `written` says that copies
    through the map write the tensor. `fetched` is how many bytes the L2 cache fetches together of
    what a copy does not find there: 64, 128 or 256. `isSigned` says that integers of 32 and 64 bits have
    a sign, which `min` and `max` of `sm90.tma_reduce` ask for. A tensor that the driver refuses ends
    the host function with its message.
  }];
  let arguments = (ins AnyType:$base, Variadic<I64>:$extents, Variadic<I64>:$strides,
                       UnitAttr:$written, UnitAttr:$isSigned,
                       DefaultValuedAttr<I32Attr, "256">:$fetched);
  let results = (outs FlyNVVM_TensorMapType:$result);
  let assemblyFormat = [{
    $base `,` `extents` `=` `[` $extents `]` `,` `strides` `=` `[` $strides `]` attr-dict `:`
    type($base) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def FlyNVVM_TensorMapAddressOp : FlyNVVM_Op<"tensor_map_address", [Pure]> {
  let summary = "the address of a tensor map among the kernel's parameters";
  let description = [{
    What convert-fly-to-nvvm leaves of a map in a kernel; fly-nvvm-kernel-parameters makes it the
    parameter itself.
  }];
  let arguments = (ins AnyType:$map);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$map attr-dict `:` functional-type(operands, results)";
}

// --- asynchronous products -----------------------------------------------------------------------

class FlyNVVM_AccumulatorsOp<string mnemonic>
    : FlyNVVM_Op<mnemonic, [AllTypesMatch<["accumulators", "result"]>, Fly_AnyEffect]> {
  let results = (outs AnyVectorOfNonZeroRank:$result);
}

def FlyNVVM_WGMMAFenceOp : FlyNVVM_AccumulatorsOp<"wgmma_fence"> {
  let summary = "orders products behind accesses of registers and shared memory";
  let description = [{
    Stands before the first product, and before one that follows writes to the registers of its
    accumulators or A: the products take the result, which nothing can be moved behind.
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$accumulators);
  let assemblyFormat = "$accumulators attr-dict `:` type($accumulators)";
}

def FlyNVVM_WGMMACommitOp : FlyNVVM_Op<"wgmma_commit", [Fly_AnyEffect]> {
  let summary = "makes a group of the products issued so far";
  let assemblyFormat = "attr-dict";
}

def FlyNVVM_WGMMAWaitOp : FlyNVVM_AccumulatorsOp<"wgmma_wait"> {
  let summary = "waits until at most so many groups of products are not finished";
  let description = [{
    With `pending` = 0 the result may be read; with more, the products of the older groups have read
    their tiles in shared memory.
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$accumulators,
                       ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<7>]>:$pending);
  let assemblyFormat = "$accumulators `,` `pending` `=` $pending attr-dict `:` type($accumulators)";
}

#endif // FLY_DIALECT_FLYNVVM_IR_FLYNVVMOPS_TD
