// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/IntTuple.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <cassert>

using namespace fly;

//===----------------------------------------------------------------------===//
// BasisPath
//===----------------------------------------------------------------------===//

unsigned BasisPath::size() const {
  unsigned length = 0;
  for (uint64_t rest = packed; rest != 0; rest >>= 8)
    ++length;
  return length;
}

unsigned BasisPath::operator[](unsigned level) const {
  assert(level < size());
  return static_cast<unsigned>((packed >> (8 * level)) & 0xff) - 1;
}

BasisPath BasisPath::dropFront() const {
  BasisPath rest;
  rest.packed = packed >> 8;
  return rest;
}

BasisPath BasisPath::append(unsigned mode) const {
  assert(canAppend(mode));
  BasisPath longer = *this;
  longer.packed |= static_cast<uint64_t>(mode + 1) << (8 * size());
  return longer;
}

//===----------------------------------------------------------------------===//
// Shared nodes
//===----------------------------------------------------------------------===//

/// The modes of a tuple, shared between its copies, with what is asked about them often.
struct fly::detail::IntTupleNode {
  explicit IntTupleNode(llvm::ArrayRef<IntTuple> from) : modes(from.begin(), from.end()) {
    hash = llvm::hash_value(modes.size());
    for (const IntTuple &mode : modes) {
      depth = std::max(depth, mode.depth() + 1);
      leafCount += mode.leafCount();
      isStatic &= mode.isStatic();
      hasBasis |= mode.hasBasis();
      hash = llvm::hash_combine(hash, mode);
    }
  }

  mutable std::atomic<unsigned> references{0};
  unsigned depth = 1;
  unsigned leafCount = 0;
  bool isStatic = true;
  bool hasBasis = false;
  llvm::hash_code hash = 0;
  llvm::SmallVector<IntTuple, 3> modes;
};

void fly::detail::retain(const IntTupleNode *node) {
  node->references.fetch_add(1, std::memory_order_relaxed);
}

void fly::detail::release(const IntTupleNode *node) {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete node;
}

//===----------------------------------------------------------------------===//
// IntTuple
//===----------------------------------------------------------------------===//

IntTuple IntTuple::dynamic(unsigned width, int32_t divisibility, RuntimeHandle handle) {
  assert((width == 32 || width == 64) && "dynamic leaves have 32 or 64 bits");
  IntTuple leaf;
  leaf.tag = Kind::Dynamic;
  leaf.bits = static_cast<uint8_t>(width);
  leaf.value = divisibility;
  leaf.runtime = handle;
  return leaf;
}

IntTuple IntTuple::none() {
  IntTuple leaf;
  leaf.tag = Kind::None;
  leaf.bits = 0;
  return leaf;
}

IntTuple IntTuple::tuple(llvm::ArrayRef<IntTuple> modes) {
  assert(!modes.empty() && "empty tuples do not exist");
  IntTuple result;
  result.tag = Kind::Tuple;
  result.bits = 0;
  result.node =
      llvm::IntrusiveRefCntPtr<const detail::IntTupleNode>(new detail::IntTupleNode(modes));
  return result;
}

IntTuple IntTuple::withPath(BasisPath path) const {
  assert(isLeaf());
  IntTuple leaf = isNone() ? IntTuple(0) : *this;
  leaf.basisPath = path;
  return leaf;
}

IntTuple IntTuple::withHandle(RuntimeHandle handle) const {
  assert(isLeaf());
  IntTuple leaf = *this;
  leaf.runtime = handle;
  return leaf;
}

llvm::ArrayRef<IntTuple> IntTuple::modes() const {
  if (isLeaf())
    return llvm::ArrayRef<IntTuple>(*this);
  return node->modes;
}

unsigned IntTuple::depth() const { return isLeaf() ? 0 : node->depth; }

unsigned IntTuple::leafCount() const { return isLeaf() ? 1 : node->leafCount; }

bool IntTuple::isStatic() const { return isLeaf() ? isStaticLeaf() : node->isStatic; }

bool IntTuple::hasBasis() const { return isLeaf() ? isBasis() : node->hasBasis; }

bool IntTuple::operator==(const IntTuple &other) const {
  if (tag != other.tag)
    return false;
  if (isLeaf())
    return bits == other.bits && value == other.value && basisPath == other.basisPath;
  if (node == other.node)
    return true;
  return node->hash == other.node->hash && node->modes == other.node->modes;
}

llvm::hash_code IntTuple::hash() const {
  return isLeaf() ? llvm::hash_combine(tag, bits, value, basisPath) : node->hash;
}

IntTuple IntTuple::withoutHandles() const {
  if (isStatic())
    return *this;
  if (isLeaf())
    return withHandle(nullptr);
  llvm::SmallVector<IntTuple, 4> stripped;
  for (const IntTuple &mode : modes())
    stripped.push_back(mode.withoutHandles());
  return tuple(stripped);
}

static void printDynamic(llvm::raw_ostream &os, unsigned width, int32_t divisibility) {
  os << '?';
  if (width == 32 && divisibility == 1)
    return;
  os << '{';
  if (width != 32)
    os << 'i' << width;
  if (width != 32 && divisibility != 1)
    os << ' ';
  if (divisibility != 1)
    os << "div=" << divisibility;
  os << '}';
}

void IntTuple::print(llvm::raw_ostream &os) const {
  switch (tag) {
  case Kind::Static:
    os << value;
    break;
  case Kind::Dynamic:
    printDynamic(os, bits, value);
    break;
  case Kind::None:
    os << '*';
    break;
  case Kind::Tuple:
    os << '(';
    llvm::interleave(modes(), os, ",");
    os << ')';
    break;
  }
  for (unsigned level = 0, end = basisPath.size(); level != end; ++level)
    os << 'E' << basisPath[level];
}

std::string IntTuple::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}

bool fly::isCongruent(const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() || b.isLeaf())
    return a.isLeaf() && b.isLeaf();
  return a.rank() == b.rank() &&
         llvm::all_of(llvm::zip_equal(a.modes(), b.modes()), [](const auto &pair) {
           return isCongruent(std::get<0>(pair), std::get<1>(pair));
         });
}
