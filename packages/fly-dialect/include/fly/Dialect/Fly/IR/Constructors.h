// SPDX-License-Identifier: Apache-2.0
//
// Builds the ops that construct a value: make_int_tuple, make_layout, make_composed_layout,
// make_view, and static where only the type carries the value.

#ifndef FLY_DIALECT_FLY_IR_CONSTRUCTORS_H
#define FLY_DIALECT_FLY_IR_CONSTRUCTORS_H

#include "fly/Dialect/Fly/IR/Evaluate.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/IR/Builders.h"

namespace fly {

class Constructors {
public:
  /// Which part of a layout is built first. Tests of passes see the difference, nothing else.
  enum class First { Shape, Stride };

  Constructors(mlir::OpBuilder &builder, mlir::Location loc, First first = First::Shape)
      : builder(builder), loc(loc), first(first) {}

  /// Dynamic leaves must have the SSA value, a 32- or 64-bit integer, as their run-time handle.
  mlir::Value tuple(const IntTuple &tuple);
  mlir::Value layout(const AnyLayout &layout);
  mlir::Value inner(const InnerMap &inner);
  /// A tensor, given its iterator: a pointer or a tuple.
  mlir::Value view(mlir::Value iterator, const AnyLayout &layout);
  /// Any value but a memref.
  mlir::Value value(const FlyValue &value);
  /// The canonical constructors of a static type (isStaticType), which is not `basis`.
  mlir::Value ofStaticType(mlir::Type type);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  First first;
};

/// Whether constructors can replace `op`: its type describes its result completely, or it is
/// another name of make_int_tuple; and it is not a canonical constructor already.
bool isFoldable(mlir::Operation *op);
/// The constructors that replace a foldable op.
mlir::Value constructFolded(mlir::OpBuilder &builder, mlir::Operation *op);

/// The SSA value that a run-time handle stands for.
inline mlir::Value toValue(RuntimeHandle handle) {
  return mlir::Value::getFromOpaquePointer(handle);
}
inline RuntimeHandle toHandle(mlir::Value value) { return value.getAsOpaquePointer(); }

/// `tuple` with the values, in depth-first order, as handles of its dynamic leaves. Requires as
/// many values as there are dynamic leaves.
IntTuple withHandles(const IntTuple &tuple, mlir::ValueRange values);
/// The number of dynamic leaves.
unsigned countDynamicLeaves(const IntTuple &tuple);

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_CONSTRUCTORS_H
