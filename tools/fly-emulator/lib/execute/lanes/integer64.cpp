// SPDX-License-Identifier: Apache-2.0
//
// 64-bit integers, wide multiply-add, and additions with carry.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

/// d = a * b + c with bit 64 of the sum: the carry.
void madU64(LaneArguments &x) {
  uint64_t carries = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t product = uint64_t{x.s[0][lane]} * x.s[1][lane];
    const uint64_t c = U64::load(x.s[2], lane);
    uint64_t r = product + c;
    const bool carry = r < product;
    carries |= uint64_t{carry} << lane;
    if (x.clamp && carry)
      r = ~uint64_t{0};
    U64::store(x.d, lane, r);
  }
  x.maskOut = carries;
}

/// Of signed numbers bit 64 is the sum's sign.
void madI64(LaneArguments &x) {
  uint64_t negative = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int64_t product = int64_t{I32::load(x.s[0], lane)} * I32::load(x.s[1], lane);
    const int64_t c = I64::load(x.s[2], lane);
    int64_t r = 0;
    const bool overflow = __builtin_add_overflow(product, c, &r);
    negative |= uint64_t{overflow ? c < 0 : r < 0} << lane;
    if (x.clamp && overflow)
      r = c < 0 ? INT64_MIN : INT64_MAX;
    I64::store(x.d, lane, r);
  }
  x.maskOut = negative;
}

enum class Carry { Add, Sub, SubReverse };

/// Addition or subtraction with a carry out and, in the chained forms, one in.
template <Carry kind, bool chained> void carryOperation(LaneArguments &x) {
  alignas(64) uint32_t carries[kLanes];
  const uint64_t in = chained ? x.maskIn : 0;
  FLYEMU_FOR_LANES {
    const uint32_t a = kind == Carry::SubReverse ? x.s[1][lane] : x.s[0][lane];
    const uint32_t b = kind == Carry::SubReverse ? x.s[0][lane] : x.s[1][lane];
    const uint64_t c = (in >> lane) & 1U;
    const uint64_t wide = kind == Carry::Add ? uint64_t{a} + b + c : uint64_t{a} - b - c;
    const uint32_t carry = static_cast<uint32_t>(wide >> 32) & 1U;
    carries[lane] = carry;
    const auto r = static_cast<uint32_t>(wide);
    const uint32_t saturated = kind == Carry::Add ? 0xffffffffU : 0U;
    x.d[lane] = x.clamp && carry != 0 ? saturated : r;
  }
  x.maskOut = packMask(carries);
}

#define CARRY(NAME, KIND, CHAINED)                                                                 \
  {NAME,      carryOperation<Carry::KIND, CHAINED>,                                                \
   Type::U32, {Type::U32, Type::U32, (CHAINED) ? Type::Mask : Type::None, Type::None},             \
   2,         static_cast<uint16_t>(kCarryOut | kOwnClamp | ((CHAINED) ? kCarryIn : 0)),           \
   kExact}

const LaneRow kRows[] = {
    FLYEMU_ROW1("v_mov_b64", B64, B64, 0, kExact, a),
    FLYEMU_ROW2("v_lshlrev_b64", B64, U32, B64, 0, kExact, b << (a & 63U)),
    FLYEMU_ROW2("v_lshrrev_b64", B64, U32, B64, 0, kExact, b >> (a & 63U)),
    FLYEMU_ROW2("v_ashrrev_i64", I64, U32, I64, 0, kExact, b >> (a & 63U)),
    FLYEMU_ROW3("v_lshl_add_u64", U64, U64, U32, U64, 0, kExact, (a << (b & 7U)) + c),
    {"v_mad_u64_u32",
     madU64,
     Type::U64,
     {Type::U32, Type::U32, Type::U64, Type::None},
     3,
     kCarryOut | kOwnClamp,
     kExact},
    {"v_mad_i64_i32",
     madI64,
     Type::I64,
     {Type::I32, Type::I32, Type::I64, Type::None},
     3,
     kCarryOut | kOwnClamp,
     kExact},
    CARRY("v_add_co_u32", Add, false),
    CARRY("v_sub_co_u32", Sub, false),
    CARRY("v_subrev_co_u32", SubReverse, false),
    CARRY("v_addc_co_u32", Add, true),
    CARRY("v_subb_co_u32", Sub, true),
    CARRY("v_subbrev_co_u32", SubReverse, true),
};

} // namespace

extern const LaneRows kInteger64Rows;
const LaneRows kInteger64Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
