// SPDX-License-Identifier: Apache-2.0
//
// The SSA values that a layout or a tensor has been put together from, so that an operation which
// leaves some of them as they are uses them again.

#ifndef FLY_LIB_TRANSFORMS_LAYOUTPARTS_H
#define FLY_LIB_TRANSFORMS_LAYOUTPARTS_H

#include "fly/Dialect/Fly/IR/Evaluate.h"

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

namespace fly {

/// The parts of a value; a part that is not known is null.
struct LayoutParts {
  /// The maps of a composed layout and the offsets in front of them, innermost first.
  struct Map {
    mlir::Value inner;
    mlir::Value offset;
  };
  llvm::SmallVector<Map, 2> maps;
  /// The plain layout that coordinates enter.
  mlir::Value outermost;
  /// The base of a coord_tensor.
  mlir::Value base;

  bool empty() const { return maps.empty() && !outermost && !base; }
};

/// The parts of a value that constructors have made.
LayoutParts partsOf(mlir::Value value);

/// The outermost layout among the parts of `before`, if `after` has it, too; null otherwise.
mlir::Value keptOutermost(const LayoutParts &parts, const FlyValue &before, const FlyValue &after);

/// Of the other parts of `before`, those that `after` has, too. Both are layouts or tensors.
LayoutParts keptParts(const LayoutParts &parts, const FlyValue &before, const FlyValue &after);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_LAYOUTPARTS_H
