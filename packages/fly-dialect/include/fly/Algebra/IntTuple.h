// SPDX-License-Identifier: Apache-2.0
//
// Integer tuples: the nested tuples of integers that shapes, strides and coordinates are made of.
//
// The classes of this library are immutable values. They are cheap to copy (a tuple shares its
// modes with its copies, safely between threads), compare and hash by what they say, and print in
// the canonical text form of the fly dialect.

#ifndef FLY_ALGEBRA_INTTUPLE_H
#define FLY_ALGEBRA_INTTUPLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace fly::detail {
struct IntTupleNode;
void retain(const IntTupleNode *node);
void release(const IntTupleNode *node);
} // namespace fly::detail

template <> struct llvm::IntrusiveRefCntPtrInfo<const fly::detail::IntTupleNode> {
  static void retain(const fly::detail::IntTupleNode *node) { fly::detail::retain(node); }
  static void release(const fly::detail::IntTupleNode *node) { fly::detail::release(node); }
};

namespace fly {

/// No value that text or an operation produces is deeper, or has more leaves, than this: what is
/// beyond is reported as an error. It bounds the recursion of every algorithm.
inline constexpr unsigned kMaxDepth = 32;
inline constexpr unsigned kMaxLeaves = 4096;

/// The mode path of a basis element, outermost mode first: `E1E0` is {1, 0}. An empty path belongs
/// to a plain integer.
class BasisPath {
public:
  static constexpr unsigned kMaxLength = 8;
  static constexpr unsigned kMaxMode = 254;

  BasisPath() = default;

  bool empty() const { return packed == 0; }
  unsigned size() const;
  /// The mode at `level`, 0 being the outermost.
  unsigned operator[](unsigned level) const;
  unsigned front() const { return (*this)[0]; }
  /// The path without its outermost mode.
  BasisPath dropFront() const;
  /// Whether `mode` can still be appended: it fits, and the path is not full.
  bool canAppend(uint64_t mode) const { return mode <= kMaxMode && size() < kMaxLength; }
  /// The path with one more, innermost, mode. Requires canAppend(mode).
  BasisPath append(unsigned mode) const;

  bool operator==(BasisPath other) const { return packed == other.packed; }
  bool operator!=(BasisPath other) const { return packed != other.packed; }
  friend llvm::hash_code hash_value(BasisPath path) { return llvm::hash_value(path.packed); }

private:
  /// Mode + 1 in one byte per level, the outermost in the lowest byte; 0 ends the path.
  uint64_t packed = 0;
};

/// What stands for the value of a dynamic leaf at run time: opaque here, an `mlir::Value` in the
/// lowering, null in type inference. It takes no part in comparison, hashing or printing.
using RuntimeHandle = void *;

/// A leaf integer or a non-empty tuple of integer tuples.
///
/// A leaf is *static* (an int32), *dynamic* (32 or 64 bits wide, known to be a multiple of a
/// divisor) or *None* (`*`). A static or dynamic leaf with a basis path is a basis element: its
/// value times the unit vector of that path. `(4)`, a tuple of rank 1, is not the leaf `4`.
class IntTuple {
public:
  enum class Kind : uint8_t { Static, Dynamic, None, Tuple };

  /// The static leaf 0.
  IntTuple() = default;
  /// The static leaf `value`; implicit, so that integers can be written where tuples are expected.
  IntTuple(int32_t value) : value(value) {}

  static IntTuple dynamic(unsigned width = 32, int32_t divisibility = 1,
                          RuntimeHandle handle = nullptr);
  static IntTuple none();
  /// `modes` as one tuple. Requires at least one mode.
  static IntTuple tuple(llvm::ArrayRef<IntTuple> modes);
  /// The value of this static or dynamic leaf times the unit vector of `path`. None counts as 0.
  IntTuple withPath(BasisPath path) const;

  Kind kind() const { return tag; }
  bool isLeaf() const { return tag != Kind::Tuple; }
  bool isTuple() const { return tag == Kind::Tuple; }
  bool isNone() const { return tag == Kind::None; }
  bool isBasis() const { return !basisPath.empty(); }
  /// A leaf whose value is known; None counts, with value 0.
  bool isStaticLeaf() const { return tag == Kind::Static || tag == Kind::None; }
  bool isDynamicLeaf() const { return tag == Kind::Dynamic; }
  /// The static plain integer `expected` (not a basis element; None counts as 0).
  bool isStaticInt(int32_t expected) const {
    return isStaticLeaf() && basisPath.empty() && value == expected;
  }
  /// A static or dynamic leaf that is neither None nor a basis element.
  bool isPlainInt() const {
    return basisPath.empty() && (tag == Kind::Static || tag == Kind::Dynamic);
  }

  /// The value of a static leaf (0 for None). Requires isStaticLeaf().
  int32_t staticValue() const { return value; }
  /// What the value is known to be a multiple of: the value itself when static.
  int32_t divisibility() const { return value; }
  /// 32 or 64 for dynamic leaves, 32 for static ones, 0 for None.
  unsigned width() const { return bits; }
  BasisPath path() const { return basisPath; }
  RuntimeHandle handle() const { return runtime; }
  /// This leaf with another run-time handle.
  IntTuple withHandle(RuntimeHandle handle) const;

  /// The number of modes; 1 for a leaf.
  unsigned rank() const { return isLeaf() ? 1 : modes().size(); }
  /// The modes of a tuple; a leaf is its own only mode.
  llvm::ArrayRef<IntTuple> modes() const;
  const IntTuple &mode(unsigned index) const { return modes()[index]; }
  /// Nesting depth; 0 for a leaf.
  unsigned depth() const;
  unsigned leafCount() const;
  bool isStatic() const;
  bool hasBasis() const;

  /// Equality of the static knowledge; handles are ignored.
  bool operator==(const IntTuple &other) const;
  bool operator!=(const IntTuple &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const IntTuple &tuple) { return tuple.hash(); }
  llvm::hash_code hash() const;

  /// The same tuple without run-time handles: what may be stored in a type.
  IntTuple withoutHandles() const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  Kind tag = Kind::Static;
  uint8_t bits = 32;
  /// The value of a static leaf, the divisibility of a dynamic one.
  int32_t value = 0;
  BasisPath basisPath;
  RuntimeHandle runtime = nullptr;
  llvm::IntrusiveRefCntPtr<const detail::IntTupleNode> node;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const IntTuple &tuple) {
  tuple.print(os);
  return os;
}

/// Calls `visit(leaf)` for each leaf, depth first.
template <typename Visitor> void forEachLeaf(const IntTuple &tuple, Visitor &&visit) {
  if (tuple.isLeaf()) {
    visit(tuple);
    return;
  }
  for (const IntTuple &mode : tuple.modes())
    forEachLeaf(mode, visit);
}

/// Whether both have the same nesting, whatever their leaves.
bool isCongruent(const IntTuple &a, const IntTuple &b);

} // namespace fly

#endif // FLY_ALGEBRA_INTTUPLE_H
