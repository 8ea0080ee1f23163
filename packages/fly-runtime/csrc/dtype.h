// SPDX-License-Identifier: Apache-2.0
//
// Element types: the note's names and DLPack's codes.
#ifndef FLYDSL_CSRC_DTYPE_H
#define FLYDSL_CSRC_DTYPE_H

#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flydsl::runtime {

enum class TypeClass : uint8_t { Bool, Signed, Unsigned, Float };

struct DType {
  const char *name;
  uint8_t code; // DLDataTypeCode
  uint8_t bits;
  TypeClass typeClass;

  uint32_t bytes() const { return bits / 8u; }
  bool is_integer_of(uint8_t width) const {
    return bits == width && (typeClass == TypeClass::Signed || typeClass == TypeClass::Unsigned);
  }
};

// The entry of the table for a name of the note; none for a name that isn't one.
const DType *find_dtype(std::string_view name);

// "float32", "int8x4", "complex64"; also for types that the note has no name for.
std::string dtype_name(const DLDataType &type);

// Whether a tensor of type `given` may be passed where `wanted` is declared. Signed and unsigned
// integers of one width are stored alike, but a kernel compares, divides and converts them
// differently.
inline bool accepts(const DType &wanted, const DLDataType &given) {
  return given.code == wanted.code && given.bits == wanted.bits && given.lanes == 1;
}

// IEEE binary16 of a value, rounded to nearest even.
uint16_t half_bits(double value);

// bfloat16 of a value: the upper half of its binary32, truncated; a NaN stays one.
uint16_t bfloat16_bits(double value);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_DTYPE_H
