// SPDX-License-Identifier: Apache-2.0
//
// Tiles: one tiler per mode of the layout that they are applied to.

#ifndef FLY_ALGEBRA_TILE_H
#define FLY_ALGEBRA_TILE_H

#include "fly/Algebra/Layout.h"

#include <memory>
#include <variant>

namespace fly {

/// A tile leaf (an integer N, short for the tiler `N:1`; `?`; `*`, which leaves its mode alone; or
/// a layout), or a bracketed non-empty list of tiles `[m0|m1|...]`, one per mode.
class Tile {
public:
  /// An integer, `?` or `*`. Requires a leaf that is no basis element.
  explicit Tile(const IntTuple &leaf);
  explicit Tile(Layout tiler);
  explicit Tile(llvm::ArrayRef<Tile> modes);
  /// `[*|*|*]` with `rank` modes. Requires rank > 0.
  static Tile keepAll(unsigned rank);

  bool isBracketed() const { return std::holds_alternative<Modes>(alternative); }
  bool isInteger() const { return leaf() && leaf()->kind() == IntTuple::Kind::Static; }
  bool isKeep() const { return leaf() && leaf()->isNone(); }
  /// The integer, `?` or `*` of this leaf; null for a layout or a bracketed tile.
  const IntTuple *leaf() const { return std::get_if<IntTuple>(&alternative); }
  /// The layout of this leaf; null otherwise.
  const Layout *layout() const { return std::get_if<Layout>(&alternative); }
  /// The modes of a bracketed tile; empty for a leaf.
  llvm::ArrayRef<Tile> modes() const;
  unsigned rank() const { return isBracketed() ? modes().size() : 1; }
  /// Nesting depth of brackets; 0 for a leaf.
  unsigned depth() const;

  bool operator==(const Tile &other) const;
  bool operator!=(const Tile &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const Tile &tile) { return tile.hash(); }
  llvm::hash_code hash() const;
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  using Modes = std::shared_ptr<const llvm::SmallVector<Tile, 0>>;
  std::variant<IntTuple, Layout, Modes> alternative;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Tile &tile) {
  tile.print(os);
  return os;
}

} // namespace fly

#endif // FLY_ALGEBRA_TILE_H
