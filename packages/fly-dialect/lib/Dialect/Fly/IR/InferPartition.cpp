// SPDX-License-Identifier: Apache-2.0
//
// Result types of the ops that distribute tensors over the threads of tiled copies and tiled matrix
// multiplications.

#include "InferSupport.h"

using namespace mlir;
using namespace fly;

static TensorValue tensorOf(Type type) { return std::get<TensorValue>(valueOf(type)); }

static InferredType inferCopyPartition(InferLocation loc, StringRef opName, CopyOperand side,
                                       Type tiledCopy, Type tensor, Type thread) {
  return inferWith(loc, opName, tensor.getContext(), [&](AlgebraContext &cx) {
    return evaluate::partitionCopy(cx, cast<TiledCopyType>(tiledCopy), side, tensorOf(tensor),
                                   tupleOf(thread));
  });
}

InferredType fly::inferTiledCopyPartitionSrc(InferLocation loc, Type tiledCopy, Type tensor,
                                             Type thread) {
  return inferCopyPartition(loc, "TiledCopyPartitionSrcOp", CopyOperand::Source, tiledCopy, tensor,
                            thread);
}

InferredType fly::inferTiledCopyPartitionDst(InferLocation loc, Type tiledCopy, Type tensor,
                                             Type thread) {
  return inferCopyPartition(loc, "TiledCopyPartitionDstOp", CopyOperand::Destination, tiledCopy,
                            tensor, thread);
}

InferredType fly::inferTiledCopyRetile(InferLocation loc, Type tiledCopy, Type fragment) {
  return inferWith(loc, "TiledCopyRetileOp", fragment.getContext(), [&](AlgebraContext &cx) {
    return evaluate::retile(cx, cast<TiledCopyType>(tiledCopy), tensorOf(fragment));
  });
}

InferredType fly::inferTiledMmaPartition(InferLocation loc, MmaOperand operand, Type tiledMma,
                                         Type tensor, Type thread) {
  return inferWith(loc, "TiledMmaPartitionOp", tensor.getContext(), [&](AlgebraContext &cx) {
    return evaluate::partitionMma(cx, cast<TiledMmaType>(tiledMma), operand, tensorOf(tensor),
                                  tupleOf(thread));
  });
}

InferredType fly::inferTiledMmaPartitionShape(InferLocation loc, MmaOperand operand, Type tiledMma,
                                              Type shape) {
  return inferWith(loc, "TiledMmaPartitionShapeOp", shape.getContext(), [&](AlgebraContext &cx) {
    return evaluate::partitionMmaShape(cx, cast<TiledMmaType>(tiledMma), operand, tupleOf(shape));
  });
}

InferredType fly::inferMmaMakeFragment(InferLocation loc, MmaOperand operand, Type tiledMma,
                                       Type tensor, std::optional<int32_t> stages) {
  if (stages && *stages <= 0)
    return emitOptionalError(loc, "MmaMakeFragmentOp: stages must be positive, got ", *stages);
  const TensorValue value = tensorOf(tensor);
  if (stages && value.layout.outermost().rank() < 2)
    return emitOptionalError(
        loc, "MmaMakeFragmentOp: stages requires an input layout with at least two modes");
  auto mma = cast<TiledMmaType>(tiledMma);
  AlgebraContext cx;
  const Layout fragment = evaluate::mmaFragment(cx, mma, operand, value, stages.value_or(0));
  if (cx.failed())
    return emitOptionalError(loc, "MmaMakeFragmentOp: ", cx.message());
  const Type element = cast<MmaOpTypeInterface>(mma.getAtom().getMmaOp()).getElementType(operand);
  auto space = AddressSpaceAttr::get(tensor.getContext(), AddressSpace::Register);
  return MemRefType::get(element, space, AnyLayout(fragment));
}
