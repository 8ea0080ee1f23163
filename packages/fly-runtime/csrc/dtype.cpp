// SPDX-License-Identifier: Apache-2.0
#include "dtype.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace flydsl::runtime {

namespace {

constexpr DType kTypes[] = {
    {"bool", kDLBool, 8, TypeClass::Bool},
    {"int8", kDLInt, 8, TypeClass::Signed},
    {"int16", kDLInt, 16, TypeClass::Signed},
    {"int32", kDLInt, 32, TypeClass::Signed},
    {"int64", kDLInt, 64, TypeClass::Signed},
    {"uint8", kDLUInt, 8, TypeClass::Unsigned},
    {"uint16", kDLUInt, 16, TypeClass::Unsigned},
    {"uint32", kDLUInt, 32, TypeClass::Unsigned},
    {"uint64", kDLUInt, 64, TypeClass::Unsigned},
    {"float16", kDLFloat, 16, TypeClass::Float},
    {"bfloat16", kDLBfloat, 16, TypeClass::Float},
    {"float32", kDLFloat, 32, TypeClass::Float},
    {"float64", kDLFloat, 64, TypeClass::Float},
    {"float8_e4m3fn", kDLFloat8_e4m3fn, 8, TypeClass::Float},
    {"float8_e4m3fnuz", kDLFloat8_e4m3fnuz, 8, TypeClass::Float},
    {"float8_e5m2", kDLFloat8_e5m2, 8, TypeClass::Float},
    {"float8_e5m2fnuz", kDLFloat8_e5m2fnuz, 8, TypeClass::Float},
};

// DLPack's other codes, for messages only.
const char *family(uint8_t code) {
  switch (code) {
  case kDLInt:
    return "int";
  case kDLUInt:
    return "uint";
  case kDLFloat:
    return "float";
  case kDLBfloat:
    return "bfloat";
  case kDLComplex:
    return "complex";
  case kDLBool:
    return "bool";
  case kDLFloat8_e8m0fnu:
    return "float8_e8m0fnu";
  case kDLFloat4_e2m1fn:
    return "float4_e2m1fn";
  default:
    return nullptr;
  }
}

} // namespace

const DType *find_dtype(std::string_view name) {
  const auto *found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const DType &type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string dtype_name(const DLDataType &type) {
  std::string text;
  for (const DType &known : kTypes)
    if (known.code == type.code && known.bits == type.bits)
      text = known.name;
  if (text.empty()) {
    const char *name = family(type.code);
    text = name == nullptr ? "type with DLPack code " + std::to_string(type.code) + " and " +
                                 std::to_string(type.bits) + " bits"
           : type.code >= kDLFloat8_e3m4 ? std::string(name)
                                         : name + std::to_string(type.bits);
  }
  return type.lanes == 1 ? text : text + "x" + std::to_string(type.lanes);
}

uint16_t half_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) // halfway between the largest finite value and the next power of two
    return sign | 0x7c00;
  // One unit in the last place is 2^(exponent - 10), and never below the subnormals' 2^-24.
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A subnormal has the exponent field 0 and no hidden bit; a carry moves into the next exponent.
  const uint32_t bits = (static_cast<uint32_t>(exponent + 14) << 10) + units;
  return static_cast<uint16_t>(sign | bits);
}

uint16_t bfloat16_bits(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  if (std::isnan(narrow))
    bits |= 0x00400000; // truncation must not turn a NaN into an infinity
  return static_cast<uint16_t>(bits >> 16);
}

} // namespace flydsl::runtime
