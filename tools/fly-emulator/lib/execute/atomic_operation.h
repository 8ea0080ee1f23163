// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

enum class AtomicOperation : uint8_t {
  Swap,
  CompareSwap,
  CompareSwapF32,
  CompareSwapF64,
  Add,
  Sub,
  ReverseSub,
  SignedMin,
  UnsignedMin,
  SignedMax,
  UnsignedMax,
  And,
  Or,
  Xor,
  Increment,      ///< wraps to zero above the operand
  Decrement,      ///< wraps to the operand
  MaskOr,         ///< (old & ~data) | data2
  MaskedSwap,     ///< each dword whose operand has bit 31 set becomes the operand's lower 31 bits
  Wrap,           ///< old >= data ? old - data : old + data2
  ConditionalSub, ///< old >= data ? old - data : old
  ClampedSub,     ///< not below zero
  AddF32,
  MinF32,
  MaxF32,
  AddF64,
  MinF64,
  MaxF64,
  PackedAddF16,
  PackedAddBf16,
};

/// Does memory's form of it have a value to compare with behind the new one?
inline bool comparesFirst(AtomicOperation operation) {
  return operation == AtomicOperation::CompareSwap || operation == AtomicOperation::CompareSwapF32;
}

/// The new value of a cell of 4 or 8 bytes.
uint64_t combine(AtomicOperation operation, unsigned bytes, uint64_t old, uint64_t data,
                 uint64_t data2);

/// Apply to memory that other threads may update too; returns the old value. The address must be
/// aligned to `bytes`.
uint64_t applyAtomic(AtomicOperation operation, unsigned bytes, uint8_t *cell, uint64_t data,
                     uint64_t data2);

/// From the part of a mnemonic after "atomic_", e.g. "add_x2", "cmpswap", "pk_add_bf16".
/// False for one that isn't known. `bytes` becomes 4 or 8.
bool parseAtomic(const std::string &name, AtomicOperation &operation, unsigned &bytes);

} // namespace flyemu
