// SPDX-License-Identifier: Apache-2.0
//
// How tiled copies and tiled matrix multiplications distribute a tensor over threads.

#ifndef FLY_ALGEBRA_PARTITION_H
#define FLY_ALGEBRA_PARTITION_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Slice.h"
#include "fly/Algebra/Tile.h"

#include <array>

namespace fly {

//===----------------------------------------------------------------------===//
// Tiled copy
//===----------------------------------------------------------------------===//

/// What a tiled copy consists of, as far as the algebra is concerned.
struct TiledCopyDesc {
  /// (thread, value) -> linear index of the data that one atom moves, in values: the reference
  /// numbering, and that of the side that is partitioned.
  Layout reference;
  Layout side;
  /// (thread, value) -> column-major index into the tile.
  Layout threadValue;
  Tile tile;
};

/// The thread's view of a tensor: ((atom values, other values), rest0, rest1, ...).
SlicedLayout partitionCopy(AlgebraContext &cx, const TiledCopyDesc &copy, const AnyLayout &tensor,
                           const IntTuple &thread);

/// A register fragment, whose mode 0 holds v values, with the value modes of the tiled copy:
/// ((atom values, other values), rest1, ...). copy.side is not used.
Layout retile(AlgebraContext &cx, const TiledCopyDesc &copy, const Layout &fragment);

//===----------------------------------------------------------------------===//
// Tiled matrix multiplication
//===----------------------------------------------------------------------===//

enum class MmaRole { A, B, C };

/// What a tiled matrix multiplication consists of, as far as the algebra is concerned.
struct TiledMmaDesc {
  /// Extents of the atom along M, N, K.
  std::array<int32_t, 3> atomShape;
  /// The lanes of one atom.
  Layout atomThreads;
  /// (thread, value) -> column-major index of the matrix of one role: (M,K), (N,K) or (M,N).
  Layout operand;
  /// How atoms are laid out over groups of threads along M, N, K.
  Layout atomLayout;
  /// Tilers along M, N, K; `*` is the extent that the atoms cover together.
  Tile permutation;
  MmaRole role;
};

/// The thread's view of a matrix: (values, rest0, rest1, ...).
SlicedLayout partitionMma(AlgebraContext &cx, const TiledMmaDesc &mma, const AnyLayout &tensor,
                          const IntTuple &thread);
/// The shape of that view for a compact tensor.
IntTuple partitionMmaShape(AlgebraContext &cx, const TiledMmaDesc &mma, const IntTuple &shape);
/// Registers for that view. With stages > 0, what follows the two matrix axes is replaced by one
/// mode of that extent.
Layout mmaFragment(AlgebraContext &cx, const TiledMmaDesc &mma, const AnyLayout &tensor,
                   int32_t stages = 0);

} // namespace fly

#endif // FLY_ALGEBRA_PARTITION_H
