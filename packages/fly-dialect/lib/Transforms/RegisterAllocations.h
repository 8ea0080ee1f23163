// SPDX-License-Identifier: Apache-2.0
//
// Which register allocations of a function can become vector values, and how an access reads or
// changes such a vector.
#ifndef FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H
#define FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H

#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace fly {

/// Elements of an allocation that become one vector. Most allocations are one piece.
///
/// Sums of large matrix instructions that a branch accesses, as attention rescales its output, are
/// as many pieces as their accesses allow: no access has elements of two, but for those of the
/// whole allocation, which fill it. Of one vector of all sums, LLVM takes the phis of such branches
/// apart, element by element, and puts each sum together again for its instruction, which is a
/// third of the time of its code generation. What is loaded in a loop stays one piece: the loads of
/// the next turn then take the registers of this one, and are not copied there. So do the 8
/// elements of a WMMA, which gain nothing and are allocated worse.
struct RegisterPiece {
  MakePtrOp op;
  mlir::VectorType type; ///< of its elements; narrow floats as integers
  int64_t start;         ///< its first element in the allocation
};

/// What is accessed: all of some pieces, or elements of one, from `offset` of the first on.
struct RegisterAccess {
  llvm::ArrayRef<const RegisterPiece *> pieces;
  int64_t offset;
};

/// The promotable allocations of one function: those whose every use is a load, a store or a static
/// offset that leads to such uses. (A view without users does not count as a use.)
class RegisterAllocations {
public:
  explicit RegisterAllocations(mlir::gpu::GPUFuncOp function);

  /// The pieces of an allocation, in the order of their elements.
  llvm::ArrayRef<const RegisterPiece *> pieces(MakePtrOp op) const;
  /// What a load of `type` from `pointer`, or a store to it, accesses; nothing when that is not of
  /// a promotable allocation.
  std::optional<RegisterAccess> access(mlir::Value pointer, mlir::Type type) const;
  /// The pieces of allocations outside of `op` that are accessed inside, in program order.
  llvm::SmallVector<const RegisterPiece *> accessedFromOutside(mlir::Operation *op) const;
  /// Whether an allocation has to stay in memory: a used recast_iter or a dynamic offset leads to
  /// it.
  bool hasExcluded() const { return excluded; }

private:
  llvm::SmallVector<std::unique_ptr<RegisterPiece>> all;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<const RegisterPiece *, 1>> byOp;
  /// The allocation that a pointer points to, and the element.
  llvm::DenseMap<mlir::Value, std::pair<MakePtrOp, int64_t>> pointers;
  bool excluded = false;
};

/// The part of `whole` that a load of `type` at element `offset` reads.
mlir::Value extractRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                             int64_t offset, mlir::Type type);

/// `whole` after a store of `part` at element `offset`.
mlir::Value insertRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                            int64_t offset, mlir::Value part);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H
