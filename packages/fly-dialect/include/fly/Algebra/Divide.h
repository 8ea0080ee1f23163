// SPDX-License-Identifier: Apache-2.0
//
// Division of a layout into a tile and the rest, in the four arrangements of its result.
//
// A layout divisor gives the two modes (tile, rest). A tile divides mode by mode: an integer N
// stands for `N:1`, and a leaf tile divides the layout as a whole. The rest is rounded up where the
// divisor does not divide.

#ifndef FLY_ALGEBRA_DIVIDE_H
#define FLY_ALGEBRA_DIVIDE_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Tile.h"

#include <variant>

namespace fly {

/// A layout, applied to the whole, or a tile, applied mode by mode.
class Divisor {
public:
  Divisor(Layout tiler) : alternative(std::move(tiler)) {}
  Divisor(Tile tile) : alternative(std::move(tile)) {}

  /// Null when it is the other.
  const Layout *layout() const { return std::get_if<Layout>(&alternative); }
  const Tile *tile() const { return std::get_if<Tile>(&alternative); }
  void print(llvm::raw_ostream &os) const;

private:
  std::variant<Layout, Tile> alternative;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Divisor &divisor) {
  divisor.print(os);
  return os;
}

/// ((t0,r0),(t1,r1),x2,...). Tile modes `*` leave their mode alone.
Layout logicalDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor);
/// ((t0,t1,...),(r0,r1,...,x2,...)), following the brackets of the tile. This and the following
/// refuse tile modes `*`, which have no rest.
Layout zippedDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor);
/// ((t0,t1,...),r0,r1,...,x2,...)
Layout tiledDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor);
/// (t0,t1,...,r0,r1,...,x2,...)
Layout flatDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor);

} // namespace fly

#endif // FLY_ALGEBRA_DIVIDE_H
