// SPDX-License-Identifier: Apache-2.0
#include "execute/atomic_operation.h"

#include <cmath>
#include <cstring>

#include "execute/lane_tables.h"

namespace flyemu {
namespace {

template <typename To, typename From> To bits(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From), "bit casts keep the size");
  std::memcpy(&to, &from, sizeof to);
  return to;
}

float f32(uint64_t v) { return bits<float>(static_cast<uint32_t>(v)); }
double f64(uint64_t v) { return bits<double>(v); }

/// The NaN of an operation: its first NaN operand, quieted, or the positive default one.
float nanOf(float a, float b) {
  constexpr uint32_t kQuiet = 0x00400000U;
  return std::isnan(a)   ? bits<float>(bits<uint32_t>(a) | kQuiet)
         : std::isnan(b) ? bits<float>(bits<uint32_t>(b) | kQuiet)
                         : bits<float>(0x7fc00000U);
}
double nanOf(double a, double b) {
  constexpr uint64_t kQuiet = 0x0008000000000000ULL;
  return std::isnan(a)   ? bits<double>(bits<uint64_t>(a) | kQuiet)
         : std::isnan(b) ? bits<double>(bits<uint64_t>(b) | kQuiet)
                         : bits<double>(uint64_t{0x7ff8000000000000ULL});
}
template <typename T> T withNan(T result, T a, T b) {
  return std::isnan(result) ? nanOf(a, b) : result;
}
uint64_t of(float v) { return bits<uint32_t>(v); }
uint64_t of(double v) { return bits<uint64_t>(v); }
template <typename T> T add(T a, T b) { return withNan(a + b, a, b); }

template <typename T> T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return withNan(std::isnan(a) ? b : a, a, b);
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T> T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return withNan(std::isnan(a) ? b : a, a, b);
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// Through the instructions' own lane kernels, so that rounding has one definition.
uint64_t packedAdd(uint64_t a, uint64_t b, bool bf16) {
  const LaneHelpers &helpers = laneTable().helpers;
  alignas(64) uint16_t halves[16] = {static_cast<uint16_t>(a), static_cast<uint16_t>(a >> 16),
                                     static_cast<uint16_t>(b), static_cast<uint16_t>(b >> 16)};
  alignas(64) float wide[16];
  (bf16 ? helpers.widenBf16 : helpers.widenF16)(wide, halves, 16);
  const auto narrow = bf16 ? helpers.narrowBf16 : helpers.narrowF16;
  return narrow(add(wide[0], wide[2])) | uint64_t{narrow(add(wide[1], wide[3]))} << 16;
}

int64_t sign(uint64_t v, unsigned bytes) {
  return bytes == 4 ? int64_t{static_cast<int32_t>(v)} : static_cast<int64_t>(v);
}

} // namespace

uint64_t combine(AtomicOperation operation, unsigned bytes, uint64_t old, uint64_t data,
                 uint64_t data2) {
  using Op = AtomicOperation;
  switch (operation) {
  case Op::Swap:
    return data;
  case Op::CompareSwap:
    return old == data2 ? data : old;
  case Op::CompareSwapF32:
    return f32(old) == f32(data2) ? data : old;
  case Op::CompareSwapF64:
    return f64(old) == f64(data2) ? data : old;
  case Op::Add:
    return old + data;
  case Op::Sub:
    return old - data;
  case Op::ReverseSub:
    return data - old;
  case Op::SignedMin:
    return sign(old, bytes) < sign(data, bytes) ? old : data;
  case Op::UnsignedMin:
    return old < data ? old : data;
  case Op::SignedMax:
    return sign(old, bytes) > sign(data, bytes) ? old : data;
  case Op::UnsignedMax:
    return old > data ? old : data;
  case Op::And:
    return old & data;
  case Op::Or:
    return old | data;
  case Op::Xor:
    return old ^ data;
  case Op::Increment:
    return old >= data ? 0 : old + 1;
  case Op::Decrement:
    return old == 0 || old > data ? data : old - 1;
  case Op::MaskOr:
    return (old & ~data) | data2;
  case Op::MaskedSwap: {
    const auto one = [&](unsigned shift) {
      const auto value = static_cast<uint32_t>(data >> shift);
      const auto cell = static_cast<uint32_t>(old >> shift);
      return uint64_t{value >> 31 != 0 ? value & 0x7fffffffU : cell} << shift;
    };
    return one(0) | one(32);
  }
  case Op::Wrap:
    return old >= data ? old - data : old + data2;
  case Op::ConditionalSub:
    return old >= data ? old - data : old;
  case Op::ClampedSub:
    return old >= data ? old - data : 0;
  case Op::AddF32:
    return of(add(f32(old), f32(data)));
  case Op::MinF32:
    return of(minimum(f32(old), f32(data)));
  case Op::MaxF32:
    return of(maximum(f32(old), f32(data)));
  case Op::AddF64:
    return of(add(f64(old), f64(data)));
  case Op::MinF64:
    return of(minimum(f64(old), f64(data)));
  case Op::MaxF64:
    return of(maximum(f64(old), f64(data)));
  case Op::PackedAddF16:
    return packedAdd(old, data, false);
  case Op::PackedAddBf16:
    return packedAdd(old, data, true);
  }
  return old;
}

uint64_t applyAtomic(AtomicOperation operation, unsigned bytes, uint8_t *cell, uint64_t data,
                     uint64_t data2) {
  if (bytes == 4) {
    auto *word = reinterpret_cast<uint32_t *>(cell);
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        word, &old,
        static_cast<uint32_t>(
            combine(operation, 4, old, static_cast<uint32_t>(data), static_cast<uint32_t>(data2))),
        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  }
  auto *word = reinterpret_cast<uint64_t *>(cell);
  uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, combine(operation, 8, old, data, data2), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

bool parseAtomic(const std::string &name, AtomicOperation &operation, unsigned &bytes) {
  using Op = AtomicOperation;
  static const struct {
    const char *name;
    AtomicOperation operation;
    unsigned bytes;
  } names[] = {{"swap", Op::Swap, 4},
               {"cmpswap", Op::CompareSwap, 4},
               {"add", Op::Add, 4},
               {"sub", Op::Sub, 4},
               {"smin", Op::SignedMin, 4},
               {"umin", Op::UnsignedMin, 4},
               {"smax", Op::SignedMax, 4},
               {"umax", Op::UnsignedMax, 4},
               {"and", Op::And, 4},
               {"or", Op::Or, 4},
               {"xor", Op::Xor, 4},
               {"inc", Op::Increment, 4},
               {"dec", Op::Decrement, 4},
               {"cmpswap_f32", Op::CompareSwapF32, 4},
               {"min_f32", Op::MinF32, 4},
               {"max_f32", Op::MaxF32, 4},
               {"cond_sub", Op::ConditionalSub, 4},
               {"sub_clamp", Op::ClampedSub, 4},
               {"add_f32", Op::AddF32, 4},
               {"add_f64", Op::AddF64, 8},
               {"min_f64", Op::MinF64, 8},
               {"max_f64", Op::MaxF64, 8},
               {"pk_add_f16", Op::PackedAddF16, 4},
               {"pk_add_bf16", Op::PackedAddBf16, 4}};
  std::string base = name;
  bool wide = false;
  if (base.size() > 3 && base.compare(base.size() - 3, 3, "_x2") == 0) {
    base.resize(base.size() - 3);
    wide = true;
  }
  for (const auto &entry : names)
    if (base == entry.name) {
      operation = entry.operation;
      bytes = wide ? 8 : entry.bytes;
      return true;
    }
  return false;
}

} // namespace flyemu
