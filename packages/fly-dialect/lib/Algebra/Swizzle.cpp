// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Swizzle.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace fly;

/// Whether bits [low, low + count) exist in a non-negative int32.
static bool bitsExist(int64_t low, int64_t count) {
  return low >= 0 && count >= 0 && low + count <= 31;
}

bool Swizzle::isApplicable() const {
  return isTrivial() || (bitsExist(base, mask) && bitsExist(int64_t(base) + shift, mask));
}

uint32_t Swizzle::sourceMask() const {
  assert(isApplicable());
  return isTrivial() ? 0 : ((uint32_t(1) << mask) - 1) << (base + shift);
}

int32_t Swizzle::apply(int32_t index) const {
  uint32_t bits = static_cast<uint32_t>(index) & sourceMask();
  bits = shift >= 0 ? bits >> shift : bits << -shift;
  return static_cast<int32_t>(static_cast<uint32_t>(index) ^ bits);
}

void Swizzle::print(llvm::raw_ostream &os) const {
  os << "S<" << mask << ',' << base << ',' << shift << '>';
}

std::string Swizzle::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}

bool CoordSwizzle::isApplicable() const {
  return isTrivial() || (bitsExist(baseRow, mask) && bitsExist(baseCol, mask));
}

int32_t CoordSwizzle::apply(int32_t row, int32_t col) const {
  assert(isApplicable());
  if (isTrivial())
    return col;
  uint32_t bits = static_cast<uint32_t>(row >> baseRow) & ((uint32_t(1) << mask) - 1);
  return static_cast<int32_t>(static_cast<uint32_t>(col) ^ (bits << baseCol));
}

void CoordSwizzle::print(llvm::raw_ostream &os) const {
  os << "CS<" << mask << ',' << baseRow << ",[";
  llvm::interleaveComma(rowPath, os);
  os << "]," << baseCol << ",[";
  llvm::interleaveComma(colPath, os);
  os << "]>";
}

std::string CoordSwizzle::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}
