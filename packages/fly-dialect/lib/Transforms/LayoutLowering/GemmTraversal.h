// SPDX-License-Identifier: Apache-2.0
//
// The order in which the atoms of a matrix multiplication are visited.

#ifndef FLY_LIB_TRANSFORMS_GEMMTRAVERSAL_H
#define FLY_LIB_TRANSFORMS_GEMMTRAVERSAL_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"
#include "fly/Dialect/Fly/IR/FlyAttributes.h"

#include <array>

namespace fly {

/// Counts or indices along M, N and K.
using IndexMNK = std::array<int32_t, 3>;

/// All (m, n, k), the first letter of `order` varying fastest. In a serpentine order the middle
/// loop runs backwards at odd steps of the outermost one, and the innermost at odd steps of both.
llvm::SmallVector<IndexMNK> traverse(GemmTraversalOrder order, IndexMNK counts);

/// The column-major (m, n, k) of layout(0), layout(1), ... Fails unless the layout is static and
/// visits each atom once.
llvm::SmallVector<IndexMNK> traverse(AlgebraContext &cx, const Layout &layout, IndexMNK counts);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_GEMMTRAVERSAL_H
