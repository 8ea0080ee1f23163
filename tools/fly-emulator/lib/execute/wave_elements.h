// SPDX-License-Identifier: Apache-2.0
//
// Elements of the operands of WMMA and SWMMAC: what a field of a register is worth, and how a
// result gets back into one. Where elements lie is each generation's own matter.
#pragma once

#include <algorithm>
#include <cstdint>

#include "execute/wave.h"

namespace flyemu {

/// The first five are numbered as the fields of f8f6f4 instructions.
enum class WaveElement : uint8_t { Fp8, Bf8, Fp6, Bf6, Fp4, F16, Bf16, F32, I8, I4, I32 };

unsigned bitsOf(WaveElement element);

/// An element of C or D: its register, counted in those of 32 bits, lane, and lowest bit.
struct WaveSlot {
  unsigned reg;
  unsigned lane;
  unsigned shift;
};

/// The registers of A, B or indices; Fault where they are others than vector registers.
const uint32_t *matrixRows(const Wave &wave, const Operand &operand);

/// Element `element` of a lane, packed without gaps.
uint32_t fieldOf(const uint32_t *rows, unsigned lane, unsigned element, unsigned bits);

/// The value of element e of A or B, with the negations of the instruction.
float floatValue(const Wave &wave, uint32_t bits, WaveElement element, unsigned e,
                 uint8_t modifiers);
int32_t integerValue(uint32_t bits, WaveElement element, bool isSigned);

/// An element of C, with its modifiers.
float loadC(const Wave &wave, const Operand &c, WaveElement element, const WaveSlot &slot);
void storeD(Wave &wave, const Operand &d, WaveElement element, const WaveSlot &slot, float value);

/// D = A * B + C in integers: A as [k][row] of `rows`, B as [k][column] of 16; slotOf(row, column).
template <typename SlotOf>
void multiplyIntegers(Wave &wave, const Instruction &inst, const int32_t *a, const int32_t *b,
                      unsigned rows, unsigned k, SlotOf &&slotOf) {
  constexpr unsigned kColumns = 16;
  const Operand &c = inst.src[2];
  uint32_t *to = wave.row(inst.dst[0].index);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j) {
      const WaveSlot slot = slotOf(i, j);
      const size_t at = size_t{slot.reg} * kLanes + slot.lane;
      int64_t sum =
          static_cast<int32_t>(c.isVector() ? wave.row(c.index)[at] : readScalar(wave, c));
      for (unsigned n = 0; n < k; ++n)
        sum += int64_t{a[n * rows + i]} * b[n * kColumns + j];
      if (inst.modifiers.clamp)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      to[at] = static_cast<uint32_t>(sum);
    }
}

} // namespace flyemu
