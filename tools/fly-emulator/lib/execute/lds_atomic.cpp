// SPDX-License-Identifier: Apache-2.0
//
// LDS atomics, exchanges, append and consume.
#include <cstring>

#include "execute/atomic_operation.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

uint64_t cellOf(const uint32_t *rows, unsigned lane, unsigned bytes) {
  return bytes == 4 ? rows[lane] : rows[lane] | uint64_t{rows[kLanes + lane]} << 32;
}

void setCell(uint32_t *rows, unsigned lane, unsigned bytes, uint64_t value) {
  rows[lane] = static_cast<uint32_t>(value);
  if (bytes == 8)
    rows[kLanes + lane] = static_cast<uint32_t>(value >> 32);
}

uint32_t parameter(AtomicOperation operation, unsigned bytes) {
  return static_cast<uint32_t>(operation) | bytes << 8;
}

/// One read-modify-write of one lane; the old value (zero out of bounds).
uint64_t update(Wave &wave, AtomicOperation operation, unsigned bytes, uint64_t address,
                unsigned lane, uint64_t data, uint64_t data2) {
  uint8_t *cell = ldsBytes(wave, address, bytes, static_cast<int>(lane));
  uint64_t old = 0;
  if (cell == nullptr)
    return 0;
  std::memcpy(&old, cell, bytes);
  const uint64_t value = combine(operation, bytes, old, data, data2);
  std::memcpy(cell, &value, bytes);
  return old;
}

constexpr uint32_t kNewValueFirst = 1U << 16;
bool newValueFirst(const Instruction &inst) {
  return (inst.opcode->parameter & kNewValueFirst) != 0;
}

void atomic(Wave &wave, const Instruction &inst) {
  if (inst.modifiers.gds)
    throw Fault{"global data share (gds) is not modelled"};
  const auto operation = static_cast<AtomicOperation>(inst.opcode->parameter & 0xffU);
  const unsigned bytes = inst.opcode->parameter >> 8 & 0xffU;
  LaneAddresses where;
  ldsAddresses(wave, inst.src[0], static_cast<uint32_t>(inst.modifiers.offset), where);
  const uint32_t *data = wave.row(inst.src[1].index);
  const bool compare = operation == AtomicOperation::CompareSwap ||
                       operation == AtomicOperation::CompareSwapF32 ||
                       operation == AtomicOperation::CompareSwapF64;
  const bool second =
      compare || operation == AtomicOperation::MaskOr || operation == AtomicOperation::Wrap;
  const uint32_t *data2 = second ? wave.row(inst.src[2].index) : nullptr;
  uint32_t *result = inst.dstCount != 0 ? wave.row(inst.dst[0].index) : nullptr;
  forEachLane(where.lanes, [&](unsigned lane) {
    uint64_t first = cellOf(data, lane, bytes);
    uint64_t other = second ? cellOf(data2, lane, bytes) : 0;
    // LDS lists the comparison first before gfx11, memory the new value.
    if (compare && !newValueFirst(inst))
      std::swap(first, other);
    const uint64_t old = update(wave, operation, bytes, where.address[lane], lane, first, other);
    if (result != nullptr)
      setCell(result, lane, bytes, old);
  });
  observeLds(wave, inst, where, bytes, AccessKind::Atomic);
}

/// Two exchanges at two offsets; parameter: bytes, and the unit of the offsets.
void exchangePair(Wave &wave, const Instruction &inst) {
  const unsigned bytes = inst.opcode->parameter & 0xffU;
  const unsigned stride = inst.opcode->parameter >> 8;
  uint32_t *result = wave.row(inst.dst[0].index);
  uint32_t addresses[kLanes];
  std::memcpy(addresses, wave.row(inst.src[0].index), sizeof addresses);
  for (unsigned half = 0; half < 2; ++half) {
    LaneAddresses where;
    where.lanes = wave.exec();
    const unsigned offset = half == 0 ? inst.modifiers.offset0 : inst.modifiers.offset1;
    const uint32_t *data = wave.row(inst.src[1 + half].index);
    forEachLane(where.lanes, [&](unsigned lane) {
      where.address[lane] = addresses[lane] + offset * stride;
      const uint64_t old = update(wave, AtomicOperation::Swap, bytes, where.address[lane], lane,
                                  cellOf(data, lane, bytes), 0);
      setCell(result + size_t{half} * bytes / 4 * kLanes, lane, bytes, old);
    });
    observeLds(wave, inst, where, bytes, AccessKind::Atomic);
  }
}

/// Where append and consume count. AMD's documents speak of M0.base, which is the upper half of M0
/// elsewhere; LLVM puts the address into the lower one. What both halves would mean is left open.
uint32_t countersBase(const Wave &wave) {
  const uint32_t m0 = wave.scalar[scalar::kM0];
  const uint32_t low = m0 & 0xffffU;
  const uint32_t high = m0 >> 16;
  if (low != 0 && high != 0)
    throw Fault{"an append or consume with something in both halves of M0 is not modelled"};
  return low | high;
}

/// Add (append) or subtract (consume) the number of active lanes; all get the old value.
void countLanes(Wave &wave, const Instruction &inst) {
  if (inst.modifiers.gds)
    throw Fault{"global data share (gds) is not modelled"};
  const auto operation = static_cast<AtomicOperation>(inst.opcode->parameter);
  LaneAddresses where;
  where.lanes = 1;
  where.address[0] = countersBase(wave) + uint64_t{static_cast<uint32_t>(inst.modifiers.offset)};
  const auto count = static_cast<uint64_t>(__builtin_popcountll(wave.exec()));
  const uint64_t old = update(wave, operation, 4, where.address[0], 0, count, 0);
  observeLds(wave, inst, where, 4, AccessKind::Atomic);
  uint32_t *result = wave.row(inst.dst[0].index);
  forEachLane(wave.exec(), [&](unsigned lane) { result[lane] = static_cast<uint32_t>(old); });
}

} // namespace

void addLdsAtomicOpcodes(OpcodeTable &table) {
  using Op = AtomicOperation;
  static const struct {
    const char *name;   ///< between "ds_" and the type
    const char *type32; ///< null: no 32-bit form
    const char *type64;
    Op operation32;
    Op operation64;
  } rows[] = {{"add", "u32", "u64", Op::Add, Op::Add},
              {"sub", "u32", "u64", Op::Sub, Op::Sub},
              {"rsub", "u32", "u64", Op::ReverseSub, Op::ReverseSub},
              {"inc", "u32", "u64", Op::Increment, Op::Increment},
              {"dec", "u32", "u64", Op::Decrement, Op::Decrement},
              {"min", "i32", "i64", Op::SignedMin, Op::SignedMin},
              {"max", "i32", "i64", Op::SignedMax, Op::SignedMax},
              {"min", "u32", "u64", Op::UnsignedMin, Op::UnsignedMin},
              {"max", "u32", "u64", Op::UnsignedMax, Op::UnsignedMax},
              {"and", "b32", "b64", Op::And, Op::And},
              {"or", "b32", "b64", Op::Or, Op::Or},
              {"xor", "b32", "b64", Op::Xor, Op::Xor},
              {"mskor", "b32", "b64", Op::MaskOr, Op::MaskOr},
              {"cmpst", "b32", "b64", Op::CompareSwap, Op::CompareSwap},
              {"cmpst", "f32", "f64", Op::CompareSwapF32, Op::CompareSwapF64},
              {"add", "f32", "f64", Op::AddF32, Op::AddF64},
              {"min", "f32", "f64", Op::MinF32, Op::MinF64},
              {"max", "f32", "f64", Op::MaxF32, Op::MaxF64},
              {"pk_add", "f16", nullptr, Op::PackedAddF16, Op::PackedAddF16},
              {"pk_add", "bf16", nullptr, Op::PackedAddBf16, Op::PackedAddBf16}};
  for (const auto &row : rows)
    for (const char *form : {"", "rtn_"}) {
      const std::string stem = std::string("ds_") + row.name + "_" + form;
      table.add({stem + row.type32, OpClass::Lds, atomic, nullptr, parameter(row.operation32, 4),
                 Fidelity::Exact});
      if (row.type64 != nullptr)
        table.add({stem + row.type64, OpClass::Lds, atomic, nullptr, parameter(row.operation64, 8),
                   Fidelity::Exact});
    }
  for (const char *form : {"", "rtn_"}) {
    const std::string stem = std::string("ds_cmpstore_") + form;
    const auto add = [&](const std::string &name, Op operation, unsigned bytes) {
      table.add({name, OpClass::Lds, atomic, nullptr, parameter(operation, bytes) | kNewValueFirst,
                 Fidelity::Exact});
    };
    add(stem + "b32", Op::CompareSwap, 4);
    add(stem + "b64", Op::CompareSwap, 8);
    add(stem + "f32", Op::CompareSwapF32, 4);
    add(stem + "f64", Op::CompareSwapF64, 8);
    table.add({std::string("ds_cond_sub_") + form + "u32", OpClass::Lds, atomic, nullptr,
               parameter(Op::ConditionalSub, 4), Fidelity::Exact});
    table.add({std::string("ds_sub_clamp_") + form + "u32", OpClass::Lds, atomic, nullptr,
               parameter(Op::ClampedSub, 4), Fidelity::Exact});
  }
  table.add({"ds_wrxchg_rtn_b32", OpClass::Lds, atomic, nullptr, parameter(Op::Swap, 4),
             Fidelity::Exact});
  table.add({"ds_wrxchg_rtn_b64", OpClass::Lds, atomic, nullptr, parameter(Op::Swap, 8),
             Fidelity::Exact});
  table.add({"ds_condxchg32_rtn_b64", OpClass::Lds, atomic, nullptr, parameter(Op::MaskedSwap, 8),
             Fidelity::Exact});
  table.add(
      {"ds_wrap_rtn_b32", OpClass::Lds, atomic, nullptr, parameter(Op::Wrap, 4), Fidelity::Exact});
  table.add(
      {"ds_wrxchg2_rtn_b32", OpClass::Lds, exchangePair, nullptr, 4 | 4 << 8, Fidelity::Exact});
  table.add(
      {"ds_wrxchg2_rtn_b64", OpClass::Lds, exchangePair, nullptr, 8 | 8 << 8, Fidelity::Exact});
  table.add({"ds_wrxchg2st64_rtn_b32", OpClass::Lds, exchangePair, nullptr, 4 | 256 << 8,
             Fidelity::Exact});
  table.add({"ds_wrxchg2st64_rtn_b64", OpClass::Lds, exchangePair, nullptr, 8 | 512 << 8,
             Fidelity::Exact});
  table.add({"ds_append", OpClass::Lds, countLanes, nullptr, static_cast<uint32_t>(Op::Add),
             Fidelity::Assumed});
  table.add({"ds_consume", OpClass::Lds, countLanes, nullptr, static_cast<uint32_t>(Op::Sub),
             Fidelity::Assumed});
}

} // namespace flyemu
