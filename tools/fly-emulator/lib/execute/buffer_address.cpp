// SPDX-License-Identifier: Apache-2.0
#include "execute/buffer_address.h"

namespace flyemu {

namespace {

/// gfx1250's: 57 bits of address, 45 of records, stride and OOB_SELECT (as LLVM makes it).
BufferDescriptor readWide(const uint32_t *w) {
  if ((w[3] >> 6 & 0x3fU) != 0 || (w[3] >> 26 & 3U) != 0 || w[3] >> 30 != 0)
    throw Fault{
        "bits of a buffer descriptor of gfx1250 whose meaning nobody has published are set"};
  BufferDescriptor d = {};
  d.base = w[0] | uint64_t{w[1] & 0x01ffffffU} << 32;
  d.records = w[1] >> 25 | uint64_t{w[2]} << 7 | uint64_t{w[3] & 0x3fU} << 39;
  d.stride = w[3] >> 12 & 0x3fffU;
  d.elementSize = 4;
  d.indexStride = 8;
  d.outOfBounds = static_cast<OutOfBounds>(w[3] >> 28 & 3U);
  // Nothing has room in an element of no bytes: a raw buffer is meant (assumed).
  if (d.stride == 0 && d.outOfBounds == OutOfBounds::Structured)
    d.outOfBounds = OutOfBounds::Raw;
  return d;
}

} // namespace

BufferDescriptor BufferDescriptor::read(const Wave &wave, const Operand &operand) {
  const uint32_t *w = wave.scalar + operand.index;
  if (wave.launch->generation >= 13)
    return readWide(w);
  BufferDescriptor d;
  d.base = (w[0] | uint64_t{w[1]} << 32) & 0xffffffffffffULL;
  d.stride = w[1] >> 16 & 0x3fffU;
  d.swizzle = w[1] >> 31 != 0;
  d.records = w[2];
  d.elementSize = 2U << (w[3] >> 19 & 3U);
  d.indexStride = 8U << (w[3] >> 21 & 3U);
  d.addThreadId = (w[3] >> 23 & 1U) != 0;
  if (d.addThreadId) // the data format field extends the stride
    d.stride |= (w[3] >> 15 & 0xfU) << 14;
  d.dataFormat = d.addThreadId ? 0 : static_cast<uint8_t>(w[3] >> 15 & 0xfU);
  d.outOfBounds = OutOfBounds::Gfx9;
  if (wave.launch->generation >= 10) {
    // Swizzled in elements of 4, 8 or 16 bytes.
    d.swizzle = w[1] >> 30 != 0;
    d.elementSize = 2U << (w[1] >> 30);
    d.outOfBounds = static_cast<OutOfBounds>(w[3] >> 28 & 3U);
    d.stride = w[1] >> 16 & 0x3fffU;
  }
  d.numberFormat = static_cast<uint8_t>(w[3] >> 12 & 7U);
  for (unsigned i = 0; i < 4; ++i)
    d.destination[i] = static_cast<uint8_t>(w[3] >> (3 * i) & 7U);
  return d;
}

BufferOperands bufferOperands(const Instruction &inst, bool hasData) {
  BufferOperands out;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    const Operand &operand = inst.src[i];
    if (operand.isVector()) {
      if (hasData && out.data == nullptr && out.descriptor == nullptr)
        out.data = &operand;
      else if (out.descriptor == nullptr)
        out.address = &operand;
    } else if (out.descriptor == nullptr) {
      out.descriptor = &operand;
    } else if (out.offset == nullptr) {
      out.offset = &operand;
    }
  }
  if (out.descriptor == nullptr || out.offset == nullptr)
    throw Fault{"the instruction has no buffer descriptor"};
  return out;
}

namespace {

/// Bytes from the lane's place on that are in bounds. The scalar offset does not count.
uint64_t boundOf(const BufferDescriptor &d, uint64_t index, uint64_t offset) {
  const auto rest = [](uint64_t size, uint64_t start) { return start < size ? size - start : 0; };
  switch (d.outOfBounds) {
  case OutOfBounds::Structured:
    return index < d.records ? rest(d.stride, offset) : 0;
  case OutOfBounds::StructuredIndex:
    return index < d.records ? ~uint64_t{0} : 0;
  case OutOfBounds::NoRecords:
    return d.records != 0 ? ~uint64_t{0} : 0;
  default:
    if (d.swizzle)
      return index < d.records ? rest(d.stride, offset) : 0;
    return rest(d.records, index * d.stride + offset);
  }
}

} // namespace

void bufferAddresses(const Wave &wave, const Instruction &inst, const BufferOperands &operands,
                     BufferLanes &out) {
  const BufferDescriptor d = BufferDescriptor::read(wave, *operands.descriptor);
  const uint32_t scalarOffset = readScalar(wave, *operands.offset);
  const Modifiers &m = inst.modifiers;
  const uint32_t *index = m.idxen ? wave.row(operands.address->index) : nullptr;
  const uint32_t *offset =
      m.offen ? wave.row(operands.address->index + (m.idxen ? 1U : 0U)) : nullptr;
  const bool structured = d.stride != 0 && (m.idxen || d.swizzle || d.addThreadId);
  // The vector and the immediate offset are added in 32 bits: LLVM folds an immediate into an
  // access whose vector offset is negative (on gfx1250, where both are extended first, it does
  // not).
  const auto offsetOf = [&](unsigned lane) {
    return (offset != nullptr ? offset[lane] : 0U) + static_cast<uint32_t>(m.offset);
  };
  out.where.lanes = wave.exec();
  const bool rdna = d.outOfBounds != OutOfBounds::Gfx9;
  if (!rdna && d.stride == 0 && !d.addThreadId) { // most buffers: plain bytes
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t byteOffset = uint64_t{scalarOffset} + offsetOf(lane);
      out.where.address[lane] = d.base + byteOffset;
      out.limit[lane] = byteOffset < d.records ? d.records - byteOffset : 0;
    }
    return;
  }
  forEachLane(out.where.lanes, [&](unsigned lane) {
    const uint64_t laneIndex =
        uint64_t{index != nullptr ? index[lane] : 0U} + (d.addThreadId ? lane : 0U);
    const uint64_t laneOffset = offsetOf(lane);
    uint64_t byteOffset = 0;
    uint64_t limit = 0;
    if (d.swizzle && d.stride != 0) {
      const uint64_t indexHigh = laneIndex / d.indexStride;
      const uint64_t indexLow = laneIndex % d.indexStride;
      const uint64_t offsetHigh = laneOffset / d.elementSize;
      const uint64_t offsetLow = laneOffset % d.elementSize;
      byteOffset = (indexHigh * d.stride + offsetHigh * d.elementSize) * d.indexStride +
                   indexLow * d.elementSize + offsetLow;
      limit = laneIndex < d.records && laneOffset < d.stride ? d.stride - laneOffset : 0;
    } else {
      byteOffset = laneIndex * d.stride + laneOffset;
      if (structured)
        limit = laneIndex < d.records ? ~uint64_t{0} : 0;
      else
        limit = byteOffset + scalarOffset < d.records ? d.records - byteOffset - scalarOffset : 0;
    }
    out.where.address[lane] = d.base + scalarOffset + byteOffset;
    out.limit[lane] = rdna ? boundOf(d, laneIndex, laneOffset) : limit;
  });
}

uint64_t fullLanes(const BufferLanes &lanes, uint32_t bytes) {
  uint64_t full = 0;
  forEachLane(lanes.where.lanes, [&](unsigned lane) {
    if (lanes.limit[lane] >= bytes)
      full |= uint64_t{1} << lane;
  });
  return full;
}

} // namespace flyemu
