// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lane_conflict.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

bool has(const std::string &name, const char *part) { return name.find(part) != std::string::npos; }
bool begins(const std::string &name, const char *part) { return name.rfind(part, 0) == 0; }

StoredBytes registersOf(const Wave &wave, const Instruction &inst, const Operand &data,
                        const LaneAccess &access) {
  if (!data.isVector() || (access.bytes + 3) / 4 != data.dwords)
    return {};
  return {wave.row(data.index), has(inst.opcode->name, "d16_hi") ? 16U : 0U};
}

/// `memory(address)` is a byte of what the store left.
template <typename Memory>
void check(ReportSink &sink, Wave &wave, const Instruction &inst, const LaneAccess &access,
           const StoredBytes &data, const char *where, Memory &&memory) {
  if (!data.known())
    return;
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < access.bytes && !reported; ++i) {
      const uint64_t address = access.address[lane] + i;
      const int left = memory(address);
      if (left < 0 || left == data.byte(i, lane))
        continue;
      // Another lane of this store, or somebody else meanwhile?
      forEachLane(access.lanes, [&](unsigned other) {
        const uint64_t offset = address - access.address[other];
        if (reported || offset >= access.bytes || data.byte(offset, other) == data.byte(i, lane))
          return;
        reported = true;
        sink.add({"race", wave, inst, static_cast<int>(lane), nullptr, true, address}, [&] {
          return format("lanes %u and %u of one store write different values to the same %s: which "
                        "of them stays is not defined",
                        lane, other, where);
        });
      });
    }
  });
}

} // namespace

StoredBytes storedToGlobal(const Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const std::string &name = inst.opcode->name;
  const bool buffer = begins(name, "buffer_store");
  const bool plain = buffer || begins(name, "global_store") || begins(name, "flat_store");
  if (access.kind != AccessKind::Store)
    return {};
  if (access.stored != nullptr)
    return {nullptr, 0, access.stored};
  if (!plain)
    return {};
  return registersOf(wave, inst, inst.src[buffer ? 0 : 1], access);
}

StoredBytes storedToLds(const Wave &wave, const Instruction &inst, const LaneAccess &access,
                        size_t part) {
  const std::string &name = inst.opcode->name;
  const bool plain = begins(name, "ds_write") || begins(name, "flat_store");
  if (access.kind != AccessKind::Store || !plain)
    return {};
  const size_t source = name == "ds_write_addtid_b32" ? 0 : 1 + part;
  return source < inst.srcCount ? registersOf(wave, inst, inst.src[source], access) : StoredBytes();
}

void checkGlobalLanes(ReportSink &sink, Wave &wave, const Instruction &inst,
                      const LaneAccess &access) {
  check(sink, wave, inst, access, storedToGlobal(wave, inst, access), "memory",
        [](uint64_t address) { return int{*reinterpret_cast<const volatile uint8_t *>(address)}; });
}

void checkLdsLanes(ReportSink &sink, Wave &wave, const Instruction &inst, const LaneAccess &access,
                   const Outstanding::LdsPart *first) {
  const WorkGroup &group = *wave.group;
  const StoredBytes data = storedToLds(wave, inst, access, first != nullptr ? 1 : 0);
  check(sink, wave, inst, access, data, "LDS byte",
        [&](uint64_t address) { return address < group.ldsBytes ? int{group.lds[address]} : -1; });
  if (first == nullptr || !data.known())
    return;
  const StoredBytes before = storedToLds(wave, inst, access, 0);
  bool reported = false;
  forEachLane(first->lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < first->bytes && !reported; ++i) {
      const uint64_t address = uint64_t{first->address[lane]} + i;
      if (address >= group.ldsBytes || group.lds[address] == before.byte(i, lane))
        continue;
      forEachLane(access.lanes, [&](unsigned other) {
        const uint64_t offset = address - access.address[other];
        if (reported || offset >= access.bytes || data.byte(offset, other) == before.byte(i, lane))
          return;
        reported = true;
        sink.add({"race", wave, inst, static_cast<int>(lane), nullptr, true, address}, [&] {
          return format(
              "the two parts of one paired store (lanes %u and %u) write different values "
              "to the same LDS byte: which of them stays is not defined",
              lane, other);
        });
      });
    }
  });
}

} // namespace flyemu
