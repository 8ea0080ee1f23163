// SPDX-License-Identifier: Apache-2.0
//
// Typed buffer loads and stores: the elements of a buffer are in a format that the instruction
// (tbuffer_*) or the descriptor (buffer_*_format_*) names, registers hold floats or integers.
#include <cstring>

#include "execute/buffer_address.h"
#include "execute/buffer_format.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

constexpr unsigned kMostComponents = 4;
constexpr unsigned kMostBytes = LaneAccess::kStoredBytes;
constexpr uint8_t kFirstComponent = 4; ///< of DST_SEL

/// An opcode's parameter.
struct Typed {
  enum class Part : uint8_t { Whole, Halves, High };

  unsigned components;
  Part part;            ///< of the registers: one component each, two each, or their high half
  bool fromInstruction; ///< the format is the instruction's, not the descriptor's

  uint32_t pack() const {
    return components | static_cast<uint32_t>(part) << 8 | (fromInstruction ? 1U << 16 : 0U);
  }
  static Typed unpack(uint32_t parameter) {
    return {parameter & 0xffU, static_cast<Part>(parameter >> 8 & 0xffU), parameter >> 16 != 0};
  }
};

/// Format, and what each component of the registers is.
struct Layout {
  BufferFormat format;
  uint8_t select[kMostComponents] = {4, 5, 6, 7};
};

Layout layoutOf(const Wave &wave, const Instruction &inst, const Typed &typed,
                const BufferOperands &operands) {
  constexpr unsigned kDataFormat = 0xf;
  Layout out;
  if (wave.launch->generation >= 10)
    throw Fault{"the unified formats of RDNA's typed buffers are not modelled"};
  if (typed.fromInstruction) {
    const unsigned format = inst.modifiers.bufferFormat;
    out.format = BufferFormat::of(format & kDataFormat, format >> 4 & 7U);
    return out;
  }
  const BufferDescriptor descriptor = BufferDescriptor::read(wave, *operands.descriptor);
  out.format = BufferFormat::of(descriptor.dataFormat, descriptor.numberFormat);
  for (unsigned i = 0; i < kMostComponents; ++i) {
    out.select[i] = descriptor.destination[i];
    if (out.select[i] == 2 || out.select[i] == 3)
      throw Fault{"the buffer descriptor selects a component by a reserved code (DST_SEL 2 or 3)"};
  }
  return out;
}

/// 16-bit registers: floats are rounded to halves, integers have to fit.
uint32_t toHalf(const LaneHelpers &helpers, const BufferFormat &format, uint32_t value) {
  if (format.isInteger()) {
    if (format.bits[0] > 16)
      throw Fault{"a typed load of 32-bit integers into 16-bit registers: the architecture does "
                  "not say which bits"};
    return value & 0xffffU;
  }
  float number = 0;
  std::memcpy(&number, &value, sizeof number);
  return helpers.narrowF16(number);
}

uint32_t fromHalf(const LaneHelpers &helpers, const BufferFormat &format, uint32_t bits) {
  if (format.number == BufferFormat::Number::Sint)
    return static_cast<uint32_t>(int32_t{static_cast<int16_t>(bits)});
  if (format.number == BufferFormat::Number::Uint)
    return bits & 0xffffU;
  alignas(64) uint16_t in[16] = {static_cast<uint16_t>(bits)};
  alignas(64) float out[16];
  helpers.widenF16(out, in, 16);
  uint32_t value = 0;
  std::memcpy(&value, &out[0], sizeof value);
  return value;
}

/// The register row of a component, and by how much it is shifted there.
struct Slot {
  unsigned row;
  unsigned shift;
};
Slot slotOf(const Typed &typed, unsigned component) {
  switch (typed.part) {
  case Typed::Part::Whole:
    return {component, 0};
  case Typed::Part::Halves:
    return {component / 2, 16 * (component % 2)};
  case Typed::Part::High:
    return {0, 16};
  }
  return {0, 0};
}

void load(Wave &wave, const Instruction &inst) {
  const Typed typed = Typed::unpack(inst.opcode->parameter);
  const LaneHelpers &helpers = *wave.launch->helpers;
  const BufferOperands operands = bufferOperands(inst, false);
  const Layout layout = layoutOf(wave, inst, typed, operands);
  const BufferFormat &format = layout.format;
  BufferLanes lanes;
  bufferAddresses(wave, inst, operands, lanes);
  LaneAddresses inside = lanes.where;
  inside.lanes = fullLanes(lanes, format.bytes());
  checkGlobal(wave, inside, format.bytes(), AccessKind::Load);
  observeGlobal(wave, inst, inside, format.bytes(), AccessKind::Load);
  uint32_t *rows = wave.row(inst.dst[0].index);
  forEachLane(lanes.where.lanes, [&](unsigned lane) {
    uint8_t element[kMostBytes] = {};
    if ((inside.lanes >> lane & 1U) != 0)
      std::memcpy(element, reinterpret_cast<const void *>(inside.address[lane]), format.bytes());
    for (unsigned i = 0; i < typed.components; ++i) {
      const unsigned component = layout.select[i] - kFirstComponent;
      uint32_t value = layout.select[i] == 0           ? 0U
                       : layout.select[i] == 1         ? format.one()
                       : component < format.components ? format.load(helpers, element, component)
                                                       : format.missing(component);
      const Slot slot = slotOf(typed, i);
      uint32_t &to = rows[slot.row * kLanes + lane];
      if (typed.part == Typed::Part::Whole)
        to = value;
      else
        to = (to & ~(0xffffU << slot.shift)) | toHalf(helpers, format, value) << slot.shift;
    }
  });
}

void store(Wave &wave, const Instruction &inst) {
  const Typed typed = Typed::unpack(inst.opcode->parameter);
  const LaneHelpers &helpers = *wave.launch->helpers;
  const BufferOperands operands = bufferOperands(inst, true);
  const Layout layout = layoutOf(wave, inst, typed, operands);
  const BufferFormat &format = layout.format;
  for (unsigned i = 0; i < format.components; ++i)
    if (layout.select[i] != kFirstComponent + i)
      throw Fault{"a typed store through a descriptor that reorders components (DST_SEL): the "
                  "architecture does not say what is written"};
  if (typed.components < format.components)
    throw Fault{"a typed store of fewer components than the format has: the architecture does not "
                "say what the others become"};
  BufferLanes lanes;
  bufferAddresses(wave, inst, operands, lanes);
  LaneAddresses inside = lanes.where;
  inside.lanes = fullLanes(lanes, format.bytes());
  checkGlobal(wave, inside, format.bytes(), AccessKind::Store);
  const uint32_t *rows = wave.row(operands.data->index);
  uint8_t elements[kLanes * kMostBytes] = {};
  forEachLane(inside.lanes, [&](unsigned lane) {
    uint8_t *element = elements + size_t{lane} * kMostBytes;
    for (unsigned i = 0; i < format.components; ++i) {
      const Slot slot = slotOf(typed, i);
      uint32_t value = rows[slot.row * kLanes + lane] >> slot.shift;
      if (typed.part != Typed::Part::Whole)
        value = fromHalf(helpers, format, value);
      format.store(helpers, element, i, value);
    }
    std::memcpy(reinterpret_cast<void *>(inside.address[lane]), element, format.bytes());
  });
  observeGlobal(wave, inst, inside, format.bytes(), AccessKind::Store, elements);
}

} // namespace

void addBufferTypedOpcodes(OpcodeTable &table) {
  static const char *const names[] = {"x", "xy", "xyz", "xyzw"};
  const auto add = [&](const std::string &prefix, const std::string &suffix, const Typed &typed) {
    table.add({prefix + "load_format_" + suffix, OpClass::Global, load, nullptr, typed.pack(),
               Fidelity::Assumed});
    table.add({prefix + "store_format_" + suffix, OpClass::Global, store, nullptr, typed.pack(),
               Fidelity::Assumed});
  };
  for (const bool fromInstruction : {false, true}) {
    const std::string prefix = fromInstruction ? "tbuffer_" : "buffer_";
    for (unsigned i = 0; i < kMostComponents; ++i) {
      add(prefix, names[i], {i + 1, Typed::Part::Whole, fromInstruction});
      add(prefix, std::string("d16_") + names[i], {i + 1, Typed::Part::Halves, fromInstruction});
    }
  }
  add("buffer_", "d16_hi_x", {1, Typed::Part::High, false});
}

} // namespace flyemu
