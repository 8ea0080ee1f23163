// SPDX-License-Identifier: Apache-2.0
//
// Buffer descriptors (V#), and where the lanes of a buffer access lie.
#pragma once

#include <cstdint>

#include "execute/memory_access.h"

namespace flyemu {

/// Which accesses a descriptor lets pass. gfx9 tells from its stride, RDNA says so (OOB_SELECT).
enum class OutOfBounds : uint8_t {
  Structured,      ///< the record, and the bytes of it: 0
  StructuredIndex, ///< the record alone: 1
  NoRecords,       ///< everything, unless there are no records at all: 2
  Raw,             ///< bytes, or as Structured where the buffer is swizzled: 3
  Gfx9,
};

/// The fields of a descriptor.
struct BufferDescriptor {
  uint64_t base;
  uint32_t stride;
  bool swizzle;
  uint64_t records;
  uint32_t indexStride; ///< lanes
  uint32_t elementSize; ///< bytes
  bool addThreadId;
  OutOfBounds outOfBounds;
  uint8_t dataFormat;     ///< of typed accesses that name none
  uint8_t numberFormat;   ///< likewise
  uint8_t destination[4]; ///< DST_SEL: what each result is: 0, 1, or a component (4 to 7)

  static BufferDescriptor read(const Wave &wave, const Operand &operand);
};

/// LLVM lists: data (stores and atomics), vector address, descriptor, scalar offset.
struct BufferOperands {
  const Operand *data = nullptr;
  const Operand *address = nullptr;
  const Operand *descriptor = nullptr;
  const Operand *offset = nullptr;
};

/// `hasData`: a store or an atomic.
BufferOperands bufferOperands(const Instruction &inst, bool hasData);

/// Where the lanes' records lie, and how many bytes of each are in bounds.
struct BufferLanes {
  LaneAddresses where;
  uint64_t limit[kLanes]; ///< bytes in bounds from the address on (saturating)
};

void bufferAddresses(const Wave &wave, const Instruction &inst, const BufferOperands &operands,
                     BufferLanes &out);

/// The lanes that have at least `bytes` in bounds.
uint64_t fullLanes(const BufferLanes &lanes, uint32_t bytes);

} // namespace flyemu
