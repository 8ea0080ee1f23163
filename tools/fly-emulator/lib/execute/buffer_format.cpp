// SPDX-License-Identifier: Apache-2.0
#include "execute/buffer_format.h"

#include <cmath>
#include <cstring>

#include "execute/wave.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kDataFormats = 16;
/// Bits of each component by DFMT, from the lowest bit on.
constexpr uint8_t kComponents[kDataFormats][4] = {
    {0, 0, 0, 0},     // 0: invalid
    {8, 0, 0, 0},     // 8
    {16, 0, 0, 0},    // 16
    {8, 8, 0, 0},     // 8_8
    {32, 0, 0, 0},    // 32
    {16, 16, 0, 0},   // 16_16
    {11, 11, 10, 0},  // 10_11_11
    {10, 11, 11, 0},  // 11_11_10
    {2, 10, 10, 10},  // 10_10_10_2
    {10, 10, 10, 2},  // 2_10_10_10
    {8, 8, 8, 8},     // 8_8_8_8
    {32, 32, 0, 0},   // 32_32
    {16, 16, 16, 16}, // 16_16_16_16
    {32, 32, 32, 0},  // 32_32_32
    {32, 32, 32, 32}, // 32_32_32_32
    {0, 0, 0, 0},     // reserved
};

constexpr unsigned kExponentBits = 5; ///< of floats of 10, 11 and 16 bits

uint32_t bitsOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
float floatOf(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint64_t fieldOf(const uint8_t *element, unsigned at, unsigned bits) {
  uint64_t out = 0;
  for (unsigned byte = at / 8; byte <= (at + bits - 1) / 8; ++byte)
    out |= uint64_t{element[byte]} << (8 * (byte - at / 8));
  return out >> (at % 8) & ((uint64_t{1} << bits) - 1);
}

void putField(uint8_t *element, unsigned at, unsigned bits, uint64_t value) {
  for (unsigned i = 0; i < bits; ++i)
    element[(at + i) / 8] |= static_cast<uint8_t>((value >> i & 1U) << ((at + i) % 8));
}

float halfToFloat(const LaneHelpers &helpers, uint32_t bits) {
  alignas(64) uint16_t in[16] = {static_cast<uint16_t>(bits)};
  alignas(64) float out[16];
  helpers.widenF16(out, in, 16);
  return out[0];
}

/// Floats of 10 and 11 bits have no sign, and the exponent of a half: they are halves that lost
/// places.
float smallToFloat(const LaneHelpers &helpers, uint32_t code, unsigned bits) {
  return halfToFloat(helpers, code << (10 - (bits - kExponentBits)));
}

int64_t signedOf(uint64_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
}

[[noreturn]] void unheld(const char *what, unsigned bits) {
  throw Fault{format("a typed store of %s into a component of %u bits: the architecture does not "
                     "say what becomes of it",
                     what, bits)};
}

/// A normalised number times the largest code, to nearest even.
uint64_t normalised(float value, double least, uint64_t largest) {
  if (std::isnan(value))
    return 0;
  const double clamped = std::fmin(std::fmax(static_cast<double>(value), least), 1.0);
  return static_cast<uint64_t>(
      static_cast<int64_t>(std::nearbyint(clamped * static_cast<double>(largest))));
}

} // namespace

BufferFormat BufferFormat::of(unsigned dataFormat, unsigned numberFormat) {
  BufferFormat format;
  format.number = static_cast<Number>(numberFormat);
  for (unsigned i = 0; i < 4; ++i) {
    format.bits[i] = kComponents[dataFormat][i];
    format.components += format.bits[i] != 0 ? 1 : 0;
  }
  const unsigned bits = format.bits[0];
  const bool floating = format.number == Number::Float;
  const bool whole = bits == 32;
  const bool known = format.components != 0 && format.number != Number::Reserved &&
                     (!floating || bits == 16 || whole || format.components == 3) &&
                     (!whole || floating || format.isInteger());
  if (!known)
    throw Fault{
        flyemu::format("the buffer's data format %u and number format %u do not go together",
                       dataFormat, numberFormat)};
  return format;
}

uint32_t BufferFormat::missing(unsigned component) const { return component == 3 ? one() : 0U; }

uint32_t BufferFormat::load(const LaneHelpers &helpers, const uint8_t *element,
                            unsigned component) const {
  unsigned at = 0;
  for (unsigned i = 0; i < component; ++i)
    at += bits[i];
  const unsigned width = bits[component];
  const uint64_t code = fieldOf(element, at, width);
  const uint64_t all = (uint64_t{1} << width) - 1;
  switch (number) {
  case Number::Unorm:
    return bitsOf(static_cast<float>(static_cast<double>(code) / static_cast<double>(all)));
  case Number::Snorm: {
    const double value = static_cast<double>(signedOf(code, width)) / static_cast<double>(all >> 1);
    return bitsOf(static_cast<float>(std::fmax(value, -1.0)));
  }
  case Number::Uscaled:
    return bitsOf(static_cast<float>(code));
  case Number::Sscaled:
    return bitsOf(static_cast<float>(signedOf(code, width)));
  case Number::Uint:
  case Number::Reserved:
    return static_cast<uint32_t>(code);
  case Number::Sint:
    return static_cast<uint32_t>(signedOf(code, width));
  case Number::Float:
    if (width == 32)
      return static_cast<uint32_t>(code);
    return bitsOf(width == 16 ? halfToFloat(helpers, static_cast<uint32_t>(code))
                              : smallToFloat(helpers, static_cast<uint32_t>(code), width));
  }
  return 0;
}

void BufferFormat::store(const LaneHelpers &helpers, uint8_t *element, unsigned component,
                         uint32_t value) const {
  unsigned at = 0;
  for (unsigned i = 0; i < component; ++i)
    at += bits[i];
  const unsigned width = bits[component];
  const uint64_t all = (uint64_t{1} << width) - 1;
  uint64_t code = value;
  switch (number) {
  case Number::Unorm:
    code = normalised(floatOf(value), 0.0, all);
    break;
  case Number::Snorm:
    code = normalised(floatOf(value), -1.0, all >> 1);
    break;
  case Number::Uint:
    if (value > all)
      unheld("a larger integer", width);
    break;
  case Number::Sint:
    if (signedOf(value & all, width) != static_cast<int32_t>(value))
      unheld("a larger integer", width);
    break;
  case Number::Float:
    if (width == 16)
      code = helpers.narrowF16(floatOf(value));
    else if (width != 32)
      unheld("a float", width);
    break;
  case Number::Uscaled:
  case Number::Sscaled:
  case Number::Reserved:
    unheld("a float as an integer", width);
  }
  putField(element, at, width, code & all);
}

} // namespace flyemu
