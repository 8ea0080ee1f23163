// SPDX-License-Identifier: Apache-2.0
//
// Scalar loads, plain and through a buffer descriptor.
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

/// Immediate and register offset of a scalar memory instruction.
uint64_t offsetOf(const Wave &wave, const Instruction &inst) {
  // LLVM lists: base, register offset (if any), then numbers: immediate offset (if any), policy.
  uint64_t offset = 0;
  if (inst.srcCount > 1)
    offset += readScalar(wave, inst.src[1]);
  if (inst.immediateCount > 1)
    offset += static_cast<uint64_t>(inst.immediate[0]);
  return offset;
}

void loadScalars(Wave &wave, const Instruction &inst, uint64_t address, unsigned dwords,
                 unsigned available) {
  uint32_t words[16] = {};
  const unsigned count = available < dwords ? available : dwords;
  if (count != 0) {
    checkScalar(wave, inst, address, count * 4, AccessKind::Load);
    std::memcpy(words, reinterpret_cast<const void *>(address), size_t{count} * 4);
  }
  const unsigned first = inst.dst[0].index;
  for (unsigned i = 0; i < dwords && first + i < scalar::kCount; ++i)
    wave.scalar[first + i] = words[i];
}

void load(Wave &wave, const Instruction &inst) {
  const unsigned dwords = inst.opcode->parameter;
  const uint64_t address = readScalar64(wave, inst.src[0]) + offsetOf(wave, inst);
  loadScalars(wave, inst, address & ~uint64_t{3}, dwords, dwords);
}

void bufferLoad(Wave &wave, const Instruction &inst) {
  const unsigned dwords = inst.opcode->parameter;
  const uint32_t *descriptor = wave.scalar + inst.src[0].index;
  const uint64_t base = (descriptor[0] | uint64_t{descriptor[1]} << 32) & 0xffffffffffffULL;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fffU;
  const uint64_t size = stride == 0 ? descriptor[2] : uint64_t{descriptor[2]} * stride;
  const uint64_t offset = offsetOf(wave, inst) & ~uint64_t{3};
  // Dwords past the end read zero.
  const uint64_t available = offset < size ? (size - offset) / 4 : 0;
  loadScalars(wave, inst, (base & ~uint64_t{3}) + offset, dwords,
              static_cast<unsigned>(available < dwords ? available : dwords));
}

} // namespace

void addScalarMemoryOpcodes(OpcodeTable &table) {
  static const struct {
    const char *suffix;
    uint32_t dwords;
  } widths[] = {{"dword", 1}, {"dwordx2", 2}, {"dwordx4", 4}, {"dwordx8", 8}, {"dwordx16", 16}};
  for (const auto &width : widths) {
    table.add({std::string("s_load_") + width.suffix, OpClass::ScalarMemory, load, nullptr,
               width.dwords, Fidelity::Exact});
    table.add({std::string("s_buffer_load_") + width.suffix, OpClass::ScalarMemory, bufferLoad,
               nullptr, width.dwords, Fidelity::Exact});
  }
}

} // namespace flyemu
