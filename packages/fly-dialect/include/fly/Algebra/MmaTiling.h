// SPDX-License-Identifier: Apache-2.0
//
// A tiled matrix multiplication as a whole: its threads, its tile, and who holds what of it.

#ifndef FLY_ALGEBRA_MMATILING_H
#define FLY_ALGEBRA_MMATILING_H

#include "fly/Algebra/Partition.h"

namespace fly {

/// (lane of an atom, M, N, K) -> index of the thread.
Layout mmaThreads(AlgebraContext &cx, const TiledMmaDesc &mma);
/// How many elements of M, N and K all atoms cover together.
IntTuple mmaTile(AlgebraContext &cx, const TiledMmaDesc &mma);
/// (thread, value) -> column-major index into that tile of the matrix of mma.role.
Layout mmaThreadValues(AlgebraContext &cx, const TiledMmaDesc &mma);

} // namespace fly

#endif // FLY_ALGEBRA_MMATILING_H
