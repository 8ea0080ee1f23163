// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Tile.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace fly;

Tile::Tile(const IntTuple &leaf) : alternative(leaf) {
  assert(leaf.isLeaf() && !leaf.isBasis() && "a tile leaf is an integer, `?` or `*`");
}

Tile::Tile(Layout tiler) : alternative(std::move(tiler)) {}

Tile::Tile(llvm::ArrayRef<Tile> modes)
    : alternative(std::make_shared<const llvm::SmallVector<Tile, 0>>(modes.begin(), modes.end())) {
  assert(!modes.empty() && "empty tiles do not exist");
}

Tile Tile::keepAll(unsigned rank) {
  return Tile(llvm::SmallVector<Tile, 4>(rank, Tile(IntTuple::none())));
}

llvm::ArrayRef<Tile> Tile::modes() const {
  if (const Modes *modes = std::get_if<Modes>(&alternative))
    return **modes;
  return {};
}

unsigned Tile::depth() const {
  unsigned deepest = 0;
  for (const Tile &mode : modes())
    deepest = std::max(deepest, mode.depth());
  return isBracketed() ? deepest + 1 : 0;
}

bool Tile::operator==(const Tile &other) const {
  if (isBracketed() && other.isBracketed())
    return modes() == other.modes();
  return alternative == other.alternative;
}

llvm::hash_code Tile::hash() const {
  if (const IntTuple *integer = leaf())
    return hash_value(*integer);
  if (const Layout *tiler = layout())
    return hash_value(*tiler);
  return llvm::hash_combine_range(modes().begin(), modes().end());
}

void Tile::print(llvm::raw_ostream &os) const {
  if (const IntTuple *integer = leaf()) {
    os << *integer;
    return;
  }
  if (const Layout *tiler = layout()) {
    os << *tiler;
    return;
  }
  os << '[';
  llvm::interleave(modes(), os, "|");
  os << ']';
}

std::string Tile::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}
