// SPDX-License-Identifier: Apache-2.0
//
// Layouts: functions from coordinates to indices, given by a shape and a stride, and compositions
// of them with swizzles and with each other.

#ifndef FLY_ALGEBRA_LAYOUT_H
#define FLY_ALGEBRA_LAYOUT_H

#include "fly/Algebra/IntTuple.h"
#include "fly/Algebra/Swizzle.h"

#include <memory>
#include <variant>

namespace fly {

/// `shape:stride`. Congruence of the two is not an invariant of the class: operations that need it
/// report an error when it is missing.
class Layout {
public:
  Layout() = default;
  Layout(IntTuple shape, IntTuple stride)
      : shapeTuple(std::move(shape)), strideTuple(std::move(stride)) {}

  const IntTuple &shape() const { return shapeTuple; }
  const IntTuple &stride() const { return strideTuple; }
  unsigned rank() const { return shapeTuple.rank(); }
  bool isStatic() const { return shapeTuple.isStatic() && strideTuple.isStatic(); }

  bool operator==(const Layout &other) const {
    return shapeTuple == other.shapeTuple && strideTuple == other.strideTuple;
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const Layout &layout) {
    return llvm::hash_combine(layout.shapeTuple, layout.strideTuple);
  }
  Layout withoutHandles() const {
    return {shapeTuple.withoutHandles(), strideTuple.withoutHandles()};
  }
  void print(llvm::raw_ostream &os) const { os << shapeTuple << ':' << strideTuple; }
  std::string str() const;

private:
  IntTuple shapeTuple;
  IntTuple strideTuple;
};

class AnyLayout;
class InnerMap;

/// `inner o offset o outer`: c -> inner(offset + outer(c)). The inner map is a swizzle, a
/// coordinate swizzle, a layout or another composed layout; the outer one a layout or a composed
/// layout.
class ComposedLayout {
public:
  ComposedLayout(InnerMap inner, IntTuple offset, AnyLayout outer);

  const InnerMap &inner() const;
  const IntTuple &offset() const;
  const AnyLayout &outer() const;
  /// The plain layout that coordinates enter first: follows outer() to its end.
  const Layout &outermost() const;
  /// The nesting depth of composed layouts, on either side; 1 for a flat one.
  unsigned depth() const;
  bool isStatic() const;

  bool operator==(const ComposedLayout &other) const;
  bool operator!=(const ComposedLayout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const ComposedLayout &layout) { return layout.hash(); }
  llvm::hash_code hash() const;
  ComposedLayout withoutHandles() const;
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  struct Parts;
  std::shared_ptr<const Parts> parts;
};

/// A layout or a composed layout.
class AnyLayout {
public:
  AnyLayout(Layout layout) : alternative(std::move(layout)) {}
  AnyLayout(ComposedLayout layout) : alternative(std::move(layout)) {}

  bool isComposed() const { return std::holds_alternative<ComposedLayout>(alternative); }
  /// Requires !isComposed().
  const Layout &plain() const { return *std::get_if<Layout>(&alternative); }
  /// Requires isComposed().
  const ComposedLayout &composed() const { return *std::get_if<ComposedLayout>(&alternative); }
  /// The plain layout that coordinates enter: itself, or the outermost one of a composed layout.
  const Layout &outermost() const { return isComposed() ? composed().outermost() : plain(); }
  bool isStatic() const { return isComposed() ? composed().isStatic() : plain().isStatic(); }

  bool operator==(const AnyLayout &other) const { return alternative == other.alternative; }
  bool operator!=(const AnyLayout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const AnyLayout &layout) {
    return layout.isComposed() ? hash_value(layout.composed()) : hash_value(layout.plain());
  }
  AnyLayout withoutHandles() const;
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  std::variant<Layout, ComposedLayout> alternative;
};

/// What may stand on the inner side of a composed layout.
class InnerMap {
public:
  InnerMap(Swizzle swizzle) : alternative(swizzle) {}
  InnerMap(CoordSwizzle swizzle) : alternative(std::move(swizzle)) {}
  InnerMap(Layout layout) : alternative(std::move(layout)) {}
  InnerMap(ComposedLayout layout) : alternative(std::move(layout)) {}

  /// Null when it is something else.
  const Swizzle *swizzle() const { return std::get_if<Swizzle>(&alternative); }
  const CoordSwizzle *coordSwizzle() const { return std::get_if<CoordSwizzle>(&alternative); }
  const Layout *layout() const { return std::get_if<Layout>(&alternative); }
  const ComposedLayout *composed() const { return std::get_if<ComposedLayout>(&alternative); }
  bool isStatic() const;

  bool operator==(const InnerMap &other) const { return alternative == other.alternative; }
  bool operator!=(const InnerMap &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const InnerMap &inner) { return inner.hash(); }
  llvm::hash_code hash() const;
  InnerMap withoutHandles() const;
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  std::variant<Swizzle, CoordSwizzle, Layout, ComposedLayout> alternative;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout) {
  layout.print(os);
  return os;
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ComposedLayout &layout) {
  layout.print(os);
  return os;
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const AnyLayout &layout) {
  layout.print(os);
  return os;
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const InnerMap &inner) {
  inner.print(os);
  return os;
}

} // namespace fly

#endif // FLY_ALGEBRA_LAYOUT_H
