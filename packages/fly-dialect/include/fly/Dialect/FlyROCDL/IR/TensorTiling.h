// SPDX-License-Identifier: Apache-2.0
//
// How a tensor in global memory and a tile in LDS are described to the tensor data mover.
#ifndef FLY_DIALECT_FLYROCDL_IR_TENSORTILING_H
#define FLY_DIALECT_FLYROCDL_IR_TENSORTILING_H

#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Tile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace fly::rocdl {

/// The box that one descriptor moves, and how the tensor's modes lie in it. Dimensions are
/// outermost first.
struct TensorBox {
  llvm::SmallVector<int32_t> shape;
  IntTuple tensorToTDM; ///< of the tensor's profile: leaf `1Ed` lies along dimension d
  llvm::SmallVector<unsigned>
      leafOfDimension;     ///< depth-first number of the tensor's leaf along each dimension
  int32_t padInterval = 0; ///< elements; 0 for none
  int32_t padAmount = 0;
};

/// The largest box that the tile `tiler` of `tensor` and the layout `lds` of the tile in LDS share,
/// divided among `numWarps` warps. The error names the condition that is not met.
llvm::Expected<TensorBox> fitTensorBox(const Layout &tensor, const Layout &lds, const Tile &tiler,
                                       int32_t numWarps);

} // namespace fly::rocdl

#endif // FLY_DIALECT_FLYROCDL_IR_TENSORTILING_H
