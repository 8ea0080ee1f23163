// SPDX-License-Identifier: Apache-2.0
#include "sanitize/halves.h"

#include "execute/opcode.h"

namespace flyemu {
namespace {

using half::kBoth;
using half::kHigh;
using half::kLow;

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }
bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

uint8_t selected(SdwaSelect select) {
  switch (select) {
  case SdwaSelect::Byte0:
  case SdwaSelect::Byte1:
  case SdwaSelect::Word0:
    return kLow;
  case SdwaSelect::Byte2:
  case SdwaSelect::Byte3:
  case SdwaSelect::Word1:
    return kHigh;
  default:
    return kBoth;
  }
}

uint8_t byOpSel(const Operand &operand, uint8_t bit) {
  return (operand.modifiers & bit) != 0 ? kHigh : kLow;
}

/// The value of a source that all lanes share.
bool sharedValue(const Wave &wave, const Operand &operand, uint32_t &value) {
  if (operand.isVector())
    return false;
  value = readScalar(wave, operand);
  return true;
}

/// Does an operation on 16-bit numbers, one a register?
bool isShort(const std::string &name) {
  static const char *const kSuffixes[] = {"_f16", "_u16", "_i16", "_b16"};
  for (const char *suffix : kSuffixes) {
    const size_t length = 4;
    if (name.size() > length && name.compare(name.size() - length, length, suffix) == 0)
      return startsWith(name, "v_") && !startsWith(name, "v_pk_") && !startsWith(name, "v_dot");
  }
  return false;
}

/// Of v_perm_b32: the halves that one byte of the result comes from.
void addByte(uint32_t selector, HalfSources &sources) {
  if (selector < 8)
    sources[selector < 4 ? 1 : 0] |= (selector & 2U) != 0 ? kHigh : kLow;
  else if (selector < 12) // the sign of a half
    sources[selector < 10 ? 1 : 0] |= (selector & 1U) != 0 ? kHigh : kLow;
}

/// A half of (mask & first) | (~mask & second).
void addField(uint32_t mask, unsigned first, unsigned second, uint8_t which, HalfSources &sources) {
  if (mask != 0)
    sources[first] |= which;
  if (mask != 0xffff)
    sources[second] |= which;
}

/// Bits of a source that a mask keeps.
void addMasked(const Wave &wave, const Instruction &inst, unsigned source, unsigned mask,
               HalfSources &low, HalfSources &high) {
  uint32_t value = 0;
  const bool known = sharedValue(wave, inst.src[mask], value);
  if (!known || (value & 0xffffU) != 0) {
    low[source] |= kLow;
    low[mask] |= kLow;
  }
  if (!known || value >> 16 != 0) {
    high[source] |= kHigh;
    high[mask] |= kHigh;
  }
}

/// A shift to the left by 16; others need all.
void addShifted(const Wave &wave, const Instruction &inst, unsigned source, unsigned count,
                HalfSources &low, HalfSources &high) {
  uint32_t bits = 0;
  if (sharedValue(wave, inst.src[count], bits) && (bits & 31U) == 16) {
    high[source] |= kLow;
    return;
  }
  low[source] |= kBoth;
  high[source] |= kBoth;
  low[count] |= kBoth;
  high[count] |= kBoth;
}

} // namespace

uint8_t halvesRead(const Instruction &inst, unsigned source) {
  const std::string &name = inst.opcode->name;
  const Operand &operand = inst.src[source];
  if (inst.modifiers.encoding == Encoding::Sdwa && source < 2 &&
      inst.modifiers.sdwa.src[source] != SdwaSelect::Dword)
    return selected(inst.modifiers.sdwa.src[source]);
  if (contains(name, "store_short") || contains(name, "store_byte") ||
      startsWith(name, "ds_write_b16") || startsWith(name, "ds_write_b8")) {
    const bool dataFirst = startsWith(name, "buffer_");
    if (!operand.isVector() || operand.dwords != 1 || (source == 0) != dataFirst)
      return kBoth;
    return contains(name, "d16_hi") ? kHigh : kLow;
  }
  if (startsWith(name, "v_cvt_") && !startsWith(name, "v_cvt_pk"))
    return isShort(name) ? byOpSel(operand, modifier::kOpSel) : kBoth;
  if (startsWith(name, "v_fma_mix") || startsWith(name, "v_mad_mix"))
    return (operand.modifiers & modifier::kOpSelHi) != 0 ? byOpSel(operand, modifier::kOpSel)
                                                         : kBoth;
  if (startsWith(name, "v_alignb") && source == 2) // the shift
    return byOpSel(operand, modifier::kOpSel);
  if (startsWith(name, "v_cmp")) {
    return contains(name, "f16") || contains(name, "i16") || contains(name, "u16")
               ? byOpSel(operand, modifier::kOpSel)
               : kBoth;
  }
  return isShort(name) ? byOpSel(operand, modifier::kOpSel) : kBoth;
}

bool halvesOfResult(const Wave &wave, const Instruction &inst, HalfSources &low,
                    HalfSources &high) {
  if (inst.modifiers.encoding != Encoding::Plain || inst.dstCount != 1 || inst.dst[0].dwords != 1)
    return false;
  const std::string &name = inst.opcode->name;
  low = high = {};
  uint32_t value = 0;
  if (name == "v_mov_b32" || startsWith(name, "v_accvgpr_")) {
    low[0] = kLow;
    high[0] = kHigh;
  } else if (name == "v_perm_b32" && sharedValue(wave, inst.src[2], value)) {
    for (unsigned i = 0; i < 4; ++i)
      addByte(value >> (8 * i) & 0xffU, i < 2 ? low : high);
  } else if (name == "v_bfi_b32" && sharedValue(wave, inst.src[0], value)) {
    addField(value & 0xffffU, 1, 2, kLow, low);
    addField(value >> 16, 1, 2, kHigh, high);
  } else if (name == "v_alignbit_b32" && sharedValue(wave, inst.src[2], value) &&
             (value & 31U) == 16) {
    low[1] = kHigh;
    high[0] = kLow;
  } else if (name == "v_and_b32") {
    const unsigned mask = inst.src[0].isVector() ? 1 : 0;
    addMasked(wave, inst, 1 - mask, mask, low, high);
  } else if (name == "v_and_or_b32") {
    const unsigned mask = inst.src[0].isVector() ? 1 : 0;
    addMasked(wave, inst, 1 - mask, mask, low, high);
    low[2] = kLow;
    high[2] = kHigh;
  } else if (name == "v_or_b32" || name == "v_xor_b32") {
    low[0] = low[1] = kLow;
    high[0] = high[1] = kHigh;
  } else if (name == "v_or3_b32") {
    low[0] = low[1] = low[2] = kLow;
    high[0] = high[1] = high[2] = kHigh;
  } else if (name == "v_lshl_or_b32") {
    addShifted(wave, inst, 0, 1, low, high);
    low[2] |= kLow;
    high[2] |= kHigh;
  } else if (name == "v_lshlrev_b32") {
    addShifted(wave, inst, 1, 0, low, high);
  } else if (name == "v_lshrrev_b32" && sharedValue(wave, inst.src[0], value) &&
             (value & 31U) == 16) {
    low[1] = kHigh;
  } else if (name == "v_pack_b32_f16") {
    low[0] = byOpSel(inst.src[0], modifier::kOpSel);
    high[1] = byOpSel(inst.src[1], modifier::kOpSel);
  } else if (startsWith(name, "v_pk_") && contains(name, "16")) {
    for (unsigned i = 0; i < inst.srcCount && i < low.size(); ++i) {
      low[i] = byOpSel(inst.src[i], modifier::kOpSel);
      high[i] = byOpSel(inst.src[i], modifier::kOpSelHi);
    }
  } else {
    return false;
  }
  return true;
}

} // namespace flyemu
