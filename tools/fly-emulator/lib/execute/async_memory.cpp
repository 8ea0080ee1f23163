// SPDX-License-Identifier: Apache-2.0
//
// Copies of gfx1250 between memory and LDS that pass no register and are counted by ASYNCcnt: each
// lane names both addresses, and the immediate offset is added to both (LLVM folds no offset of one
// of them into it). A load of a lane whose place in LDS is out of bounds does nothing, by which
// compilers mask lanes. In a cluster, cluster_load_async_to_lds names in M0 the workgroups that ask
// for the same; each of them gets the data by its own instruction here. All of that is assumed.
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// LLVM lists the vector operands in the order LDS, global (loads) or global, LDS (stores), and a
/// scalar base where the global one is an offset.
struct AsyncAddresses {
  LaneAddresses global;
  LaneAddresses lds;
};

void addressesOf(const Wave &wave, const Instruction &inst, bool load, AsyncAddresses &out) {
  const Operand *vectors[2] = {};
  const Operand *base = nullptr;
  unsigned found = 0;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    if (!inst.src[i].isVector())
      base = &inst.src[i];
    else if (found < 2)
      vectors[found++] = &inst.src[i];
  }
  if (found != 2)
    throw Fault{"an asynchronous copy without two vector addresses"};
  const Operand &global = *vectors[load ? 1 : 0];
  const Operand &lds = *vectors[load ? 0 : 1];
  const auto offset = static_cast<uint64_t>(int64_t{inst.modifiers.offset});
  const uint32_t *low = wave.row(global.index);
  const uint32_t *local = wave.row(lds.index);
  const uint64_t start = base != nullptr ? readScalar64(wave, *base) + offset : offset;
  const int64_t scale = inst.modifiers.offsetScale;
  out.global.lanes = out.lds.lanes = wave.exec();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    out.global.address[lane] =
        base != nullptr
            ? start + static_cast<uint64_t>(int64_t{static_cast<int32_t>(low[lane])} * scale)
            : start + (low[lane] | uint64_t{low[kLanes + lane]} << 32);
    out.lds.address[lane] = local[lane] + static_cast<uint32_t>(offset);
  }
}

/// Is this workgroup among those that M0 names? It has to be one, of a cluster.
void requireMember(const Wave &wave) {
  const uint32_t mask = wave.scalar[scalar::kM0] & 0xffffU;
  const uint32_t rank = wave.group->cluster != nullptr ? wave.group->clusterRank : 0;
  if (mask != 0 && (mask >> rank & 1U) == 0)
    throw Fault{format("a load for workgroups of the cluster (mask 0x%x) that the one that asks is "
                       "not among (it is number %u) is not modelled",
                       mask, rank)};
}

/// Parameter: bytes, and 256 where a cluster shares the load.
constexpr uint32_t kShared = 256;

void load(Wave &wave, const Instruction &inst) {
  const uint32_t bytes = inst.opcode->parameter & 0xffU;
  if ((inst.opcode->parameter & kShared) != 0)
    requireMember(wave);
  AsyncAddresses at;
  addressesOf(wave, inst, true, at);
  // A lane without a place in LDS does not look at memory: that is how compilers mask lanes.
  forEachLane(at.lds.lanes, [&](unsigned lane) {
    if (ldsBytes(wave, at.lds.address[lane], bytes, static_cast<int>(lane)) == nullptr)
      at.lds.lanes &= ~(uint64_t{1} << lane);
  });
  at.global.lanes = at.lds.lanes;
  checkGlobal(wave, at.global, bytes, AccessKind::Load);
  observeGlobal(wave, inst, at.global, bytes, AccessKind::Load);
  forEachLane(at.lds.lanes, [&](unsigned lane) {
    std::memcpy(ldsBytes(wave, at.lds.address[lane], bytes, static_cast<int>(lane)),
                reinterpret_cast<const void *>(at.global.address[lane]), bytes);
  });
  observeLds(wave, inst, at.lds, bytes, AccessKind::Store);
}

void store(Wave &wave, const Instruction &inst) {
  const uint32_t bytes = inst.opcode->parameter;
  AsyncAddresses at;
  addressesOf(wave, inst, false, at);
  checkGlobal(wave, at.global, bytes, AccessKind::Store);
  observeLds(wave, inst, at.lds, bytes, AccessKind::Load);
  forEachLane(at.lds.lanes, [&](unsigned lane) {
    const uint8_t *from = ldsBytes(wave, at.lds.address[lane], bytes, static_cast<int>(lane));
    auto *to = reinterpret_cast<void *>(at.global.address[lane]);
    if (from != nullptr)
      std::memcpy(to, from, bytes);
    else
      std::memset(to, 0, bytes);
  });
  observeGlobal(wave, inst, at.global, bytes, AccessKind::Store);
}

} // namespace

void addAsyncMemoryOpcodes(OpcodeTable &table) {
  static const struct {
    const char *name;
    uint32_t bytes;
  } widths[] = {{"b8", 1}, {"b32", 4}, {"b64", 8}, {"b128", 16}};
  for (const auto &width : widths) {
    const auto add = [&](const char *prefix, Handler handler, uint32_t parameter) {
      table.add({std::string(prefix) + width.name, OpClass::Global, handler, nullptr, parameter,
                 Fidelity::Assumed});
    };
    add("global_load_async_to_lds_", load, width.bytes);
    add("cluster_load_async_to_lds_", load, width.bytes | kShared);
    add("global_store_async_from_lds_", store, width.bytes);
  }
}

} // namespace flyemu
