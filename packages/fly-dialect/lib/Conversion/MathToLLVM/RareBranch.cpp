// SPDX-License-Identifier: Apache-2.0
#include "RareBranch.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using fly::FloatEmitter;

namespace {

Value anyLane(const FloatEmitter &e, Value mask) {
  auto type = dyn_cast<VectorType>(mask.getType());
  if (!type)
    return mask;
  if (type.getRank() != 1)
    mask = vector::ShapeCastOp::create(
        e.builder, e.loc, VectorType::get(type.getNumElements(), type.getElementType()), mask);
  return vector::ReductionOp::create(e.builder, e.loc, vector::CombiningKind::OR, mask);
}

} // namespace

SmallVector<Value>
fly::replaceWhere(const FloatEmitter &e, Value mask, ArrayRef<Value> usual,
                  llvm::function_ref<SmallVector<Value>(const FloatEmitter &)> emit) {
  auto branch = scf::IfOp::create(
      e.builder, e.loc, anyLane(e, mask),
      [&](OpBuilder &builder, Location loc) {
        FloatEmitter inner(builder, loc, usual.front().getType());
        SmallVector<Value> values = emit(inner);
        for (auto [value, other] : llvm::zip_equal(values, usual))
          value = inner.select(mask, value, other);
        scf::YieldOp::create(builder, loc, values);
      },
      [&](OpBuilder &builder, Location loc) { scf::YieldOp::create(builder, loc, usual); });
  return SmallVector<Value>(branch.getResults());
}
