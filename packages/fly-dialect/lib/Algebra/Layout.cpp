// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Layout.h"

using namespace fly;

template <typename T> static std::string toString(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string Layout::str() const { return toString(*this); }
std::string ComposedLayout::str() const { return toString(*this); }
std::string AnyLayout::str() const { return toString(*this); }
std::string InnerMap::str() const { return toString(*this); }

//===----------------------------------------------------------------------===//
// ComposedLayout
//===----------------------------------------------------------------------===//

struct ComposedLayout::Parts {
  InnerMap inner;
  IntTuple offset;
  AnyLayout outer;
  unsigned depth;
  llvm::hash_code hash;
};

ComposedLayout::ComposedLayout(InnerMap inner, IntTuple offset, AnyLayout outer) {
  unsigned depth = 0;
  if (const ComposedLayout *nested = inner.composed())
    depth = nested->depth();
  if (outer.isComposed())
    depth = std::max(depth, outer.composed().depth());
  llvm::hash_code hash = llvm::hash_combine(inner, offset, outer);
  parts = std::make_shared<const Parts>(
      Parts{std::move(inner), std::move(offset), std::move(outer), depth + 1, hash});
}

const InnerMap &ComposedLayout::inner() const { return parts->inner; }
const IntTuple &ComposedLayout::offset() const { return parts->offset; }
const AnyLayout &ComposedLayout::outer() const { return parts->outer; }
unsigned ComposedLayout::depth() const { return parts->depth; }
llvm::hash_code ComposedLayout::hash() const { return parts->hash; }

const Layout &ComposedLayout::outermost() const {
  const AnyLayout *layout = &outer();
  while (layout->isComposed())
    layout = &layout->composed().outer();
  return layout->plain();
}

bool ComposedLayout::isStatic() const {
  return inner().isStatic() && offset().isStatic() && outer().isStatic();
}

bool ComposedLayout::operator==(const ComposedLayout &other) const {
  return parts == other.parts || (hash() == other.hash() && inner() == other.inner() &&
                                  offset() == other.offset() && outer() == other.outer());
}

ComposedLayout ComposedLayout::withoutHandles() const {
  if (isStatic())
    return *this;
  return {inner().withoutHandles(), offset().withoutHandles(), outer().withoutHandles()};
}

void ComposedLayout::print(llvm::raw_ostream &os) const {
  os << inner() << " o " << offset() << " o ";
  if (outer().isComposed())
    os << '[' << outer() << ']';
  else
    os << outer();
}

//===----------------------------------------------------------------------===//
// AnyLayout and InnerMap
//===----------------------------------------------------------------------===//

AnyLayout AnyLayout::withoutHandles() const {
  if (isComposed())
    return composed().withoutHandles();
  return plain().withoutHandles();
}

void AnyLayout::print(llvm::raw_ostream &os) const {
  std::visit([&](const auto &layout) { os << layout; }, alternative);
}

bool InnerMap::isStatic() const {
  if (const Layout *plain = layout())
    return plain->isStatic();
  if (const ComposedLayout *nested = composed())
    return nested->isStatic();
  return true;
}

llvm::hash_code InnerMap::hash() const {
  return std::visit([&](const auto &map) { return llvm::hash_combine(alternative.index(), map); },
                    alternative);
}

InnerMap InnerMap::withoutHandles() const {
  if (const Layout *plain = layout())
    return plain->withoutHandles();
  if (const ComposedLayout *nested = composed())
    return nested->withoutHandles();
  return *this;
}

void InnerMap::print(llvm::raw_ostream &os) const {
  std::visit([&](const auto &map) { os << map; }, alternative);
}
