// SPDX-License-Identifier: Apache-2.0
//
// Swizzles: bit permutations of an index (`S<M,B,S>`) or of a coordinate (`CS<...>`).

#ifndef FLY_ALGEBRA_SWIZZLE_H
#define FLY_ALGEBRA_SWIZZLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace fly {

/// `S<mask,base,shift>`: x -> x xor ((x and ((2^mask - 1) << (base + shift))) >> shift).
/// mask = 0 is the identity. Any three integers are representable; applying a swizzle whose masks
/// don't lie within 31 bits is an error.
struct Swizzle {
  int32_t mask = 0;
  int32_t base = 0;
  int32_t shift = 0;

  /// Whether it is the identity: no mask bits.
  bool isTrivial() const { return mask == 0; }
  /// Whether both the bits it reads and the bits it writes exist in a non-negative int32.
  bool isApplicable() const;
  /// The bits that it reads, `((2^mask - 1) << (base + shift))`. Requires isApplicable().
  uint32_t sourceMask() const;
  /// The swizzled value. Requires isApplicable().
  int32_t apply(int32_t index) const;

  bool operator==(const Swizzle &other) const {
    return mask == other.mask && base == other.base && shift == other.shift;
  }
  bool operator!=(const Swizzle &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const Swizzle &swizzle) {
    return llvm::hash_combine(swizzle.mask, swizzle.base, swizzle.shift);
  }
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

/// `CS<mask,baseRow,[rowPath],baseCol,[colPath]>`: replaces the leaf `col` at colPath of a
/// coordinate by col xor (((row >> baseRow) and (2^mask - 1)) << baseCol), row being the leaf at
/// rowPath. An empty path means the coordinate itself.
struct CoordSwizzle {
  int32_t mask = 0;
  int32_t baseRow = 0;
  llvm::SmallVector<int32_t, 2> rowPath;
  int32_t baseCol = 0;
  llvm::SmallVector<int32_t, 2> colPath;

  bool isTrivial() const { return mask == 0; }
  /// Whether the bits that it reads and writes exist in a non-negative int32.
  bool isApplicable() const;
  /// The new column. Requires isApplicable().
  int32_t apply(int32_t row, int32_t col) const;

  bool operator==(const CoordSwizzle &other) const {
    return mask == other.mask && baseRow == other.baseRow && rowPath == other.rowPath &&
           baseCol == other.baseCol && colPath == other.colPath;
  }
  bool operator!=(const CoordSwizzle &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const CoordSwizzle &swizzle) {
    return llvm::hash_combine(
        swizzle.mask, swizzle.baseRow,
        llvm::hash_combine_range(swizzle.rowPath.begin(), swizzle.rowPath.end()), swizzle.baseCol,
        llvm::hash_combine_range(swizzle.colPath.begin(), swizzle.colPath.end()));
  }
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Swizzle &swizzle) {
  swizzle.print(os);
  return os;
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const CoordSwizzle &swizzle) {
  swizzle.print(os);
  return os;
}

} // namespace fly

#endif // FLY_ALGEBRA_SWIZZLE_H
