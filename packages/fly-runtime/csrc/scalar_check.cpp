// SPDX-License-Identifier: Apache-2.0
#include "scalar_check.h"

#include "tvm_ffi.h"

#include <cstring>

namespace flydsl::runtime {

namespace {

[[noreturn]] void refuse_kind(const ArgumentSite &site, const TVMFFIAny &given) {
  site.refuse(FLYDSL_ERROR_TYPE, site.argument().expectation(), describe_argument(given));
}

[[noreturn]] void refuse_range(const ArgumentSite &site, const TVMFFIAny &given) {
  site.refuse(FLYDSL_ERROR_VALUE, site.argument().expectation(),
              describe_argument(given) + ", which does not fit");
}

// Integers beyond int64 arrive as an object: a count of 64-bit words and the words, least
// significant first, in two's complement. As uint64 a positive one of two words fits.
uint64_t unsigned_from_big(const ArgumentSite &site, const TVMFFIAny &given) {
  const auto *cell = reinterpret_cast<const char *>(given.v_obj) + sizeof(TVMFFIObject);
  size_t words = 0;
  std::memcpy(&words, cell, sizeof words);
  uint64_t value[2] = {};
  if (words == 2)
    std::memcpy(value, cell + sizeof words, sizeof value);
  if (words != 2 || value[1] != 0)
    refuse_range(site, given);
  return value[0];
}

uint64_t check_integer(const ArgumentSite &site, const TVMFFIAny &given) {
  const DType &type = *site.argument().dtype;
  if (given.type_index == kTVMFFIBigInt) {
    if (type.typeClass == TypeClass::Unsigned && type.bits == 64)
      return unsigned_from_big(site, given);
    refuse_range(site, given);
  }
  if (given.type_index != kTVMFFIInt && given.type_index != kTVMFFIBool)
    refuse_kind(site, given);
  const int64_t value = given.v_int64;
  const bool isSigned = type.typeClass == TypeClass::Signed;
  const int unused = 64 - type.bits;
  const bool fits = isSigned ? value >= (INT64_MIN >> unused) && value <= (INT64_MAX >> unused)
                             : value >= 0 && static_cast<uint64_t>(value) <= (UINT64_MAX >> unused);
  if (!fits)
    refuse_range(site, given);
  return static_cast<uint64_t>(value);
}

uint64_t check_bool(const ArgumentSite &site, const TVMFFIAny &given) {
  const bool isBool = given.type_index == kTVMFFIBool;
  const bool isBit = given.type_index == kTVMFFIInt && (given.v_int64 == 0 || given.v_int64 == 1);
  if (!isBool && !isBit)
    refuse_kind(site, given);
  return given.v_int64 != 0 ? 1 : 0;
}

uint64_t check_float(const ArgumentSite &site, const TVMFFIAny &given) {
  double value = 0;
  if (given.type_index == kTVMFFIFloat)
    value = given.v_float64;
  else if (given.type_index == kTVMFFIInt || given.type_index == kTVMFFIBool)
    value = static_cast<double>(given.v_int64);
  else
    refuse_kind(site, given);
  const DType &type = *site.argument().dtype;
  uint64_t word = 0;
  if (type.bits == 64) {
    std::memcpy(&word, &value, sizeof value);
  } else if (type.bits == 32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(&word, &narrow, sizeof narrow);
  } else {
    word = type.code == kDLBfloat ? bfloat16_bits(value) : half_bits(value);
  }
  return word;
}

} // namespace

uint64_t check_scalar(const ArgumentSite &site, const TVMFFIAny &given) {
  switch (site.argument().dtype->typeClass) {
  case TypeClass::Bool:
    return check_bool(site, given);
  case TypeClass::Signed:
  case TypeClass::Unsigned:
    return check_integer(site, given);
  case TypeClass::Float:
    return check_float(site, given);
  }
  refuse_kind(site, given);
}

void *check_address(const ArgumentSite &site, const TVMFFIAny &given) {
  switch (given.type_index) {
  case kTVMFFINone:
    return nullptr;
  case kTVMFFIOpaquePtr:
    return given.v_ptr;
  case kTVMFFIInt:
    if (given.v_int64 < 0)
      refuse_range(site, given);
    return given.v_ptr; // the union's other name for the same word
  default:
    refuse_kind(site, given);
  }
}

} // namespace flydsl::runtime
