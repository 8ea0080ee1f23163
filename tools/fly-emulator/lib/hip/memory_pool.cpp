// SPDX-License-Identifier: Apache-2.0
//
// Memory pools. Freed memory goes back to the host at once, so that a pool never holds any; what it
// counts is what was allocated from it and is still alive.
#include <algorithm>
#include <cstring>
#include <map>

#include "device/memory_map.h"
#include "hip/allocation.h"
#include "hip/graph.h"
#include "hip/runtime.h"

using namespace flyemu;

struct ihipMemPoolHandle_t {
  int device = 0;
  uint64_t releaseThreshold = 0;
  int reuse[3] = {1, 1, 1}; ///< by hipMemPoolAttr - 1: they change nothing here
  uint64_t highest = 0;
  std::map<uint64_t, uint64_t> allocations; ///< address -> serial of its registration
};

namespace {

enum Attribute : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kReservedHigh = 6,
  kUsedCurrent = 7,
  kUsedHigh = 8,
};
constexpr int kAccessReadWrite = 3;
constexpr int kLocationDevice = 1;
constexpr int kAllocationPinned = 1;

struct Location {
  int type;
  int id;
};
struct Access {
  Location location;
  int flags;
};
struct PoolProperties {
  int allocationType;
  int handleTypes;
  Location location;
  void *security;
  size_t maxSize;
  unsigned char reserved[56];
};

struct Pools {
  std::mutex mutex;
  std::map<ihipMemPoolHandle_t *, std::unique_ptr<ihipMemPoolHandle_t>> created;
  std::map<int, std::unique_ptr<ihipMemPoolHandle_t>> defaults; ///< by device
  std::map<int, ihipMemPoolHandle_t *> current;                 ///< where another was set
};
Pools &pools() {
  static auto *instance = new Pools;
  return *instance;
}

// Below, the caller holds the lock.

ihipMemPoolHandle_t &defaultPool(int device) {
  auto &pool = pools().defaults[Runtime::instance().device(device).ordinal];
  if (pool == nullptr) {
    pool = std::make_unique<ihipMemPoolHandle_t>();
    pool->device = device;
  }
  return *pool;
}

ihipMemPoolHandle_t &currentPool(int device) {
  const auto found = pools().current.find(Runtime::instance().device(device).ordinal);
  return found != pools().current.end() ? *found->second : defaultPool(device);
}

ihipMemPoolHandle_t &check(hipMemPool_t pool) {
  const bool isDefault = std::any_of(pools().defaults.begin(), pools().defaults.end(),
                                     [&](const auto &entry) { return entry.second.get() == pool; });
  require(isDefault || pools().created.count(pool) != 0, hipErrorInvalidValue,
          "no memory pool that is alive");
  return *pool;
}

uint64_t bytesInUse(ihipMemPoolHandle_t &pool) {
  uint64_t bytes = 0;
  for (auto it = pool.allocations.begin(); it != pool.allocations.end();) {
    MemoryRange range;
    const bool alive = MemoryMap::instance().lookup(it->first, range) && range.begin == it->first &&
                       range.serial == it->second;
    bytes += alive ? range.end - range.begin : 0;
    it = alive ? std::next(it) : pool.allocations.erase(it);
  }
  pool.highest = std::max(pool.highest, bytes);
  return bytes;
}

void *allocateFrom(ihipMemPoolHandle_t &pool, size_t bytes) {
  void *memory = allocate(bytes, MemoryKind::Device, 0);
  MemoryRange range;
  const auto address = reinterpret_cast<uint64_t>(memory);
  if (memory != nullptr && MemoryMap::instance().lookup(address, range))
    pool.allocations[address] = range.serial;
  bytesInUse(pool);
  return memory;
}

template <typename F> hipError_t locked(F &&body) {
  return guarded([&] {
    const std::lock_guard<std::mutex> lock(pools().mutex);
    body();
  });
}

} // namespace

FLYEMU_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device) {
  return locked([&] {
    require(pool != nullptr, hipErrorInvalidValue, "hipDeviceGetDefaultMemPool: null pointer");
    *pool = &defaultPool(device);
  });
}
FLYEMU_API hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) {
  return locked([&] {
    require(pool != nullptr, hipErrorInvalidValue, "hipDeviceGetMemPool: null pointer");
    *pool = &currentPool(device);
  });
}
FLYEMU_API hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return locked([&] {
    require(check(pool).device == Runtime::instance().device(device).ordinal, hipErrorInvalidValue,
            "hipDeviceSetMemPool: the pool belongs to another device");
    pools().current[device] = pool;
  });
}

FLYEMU_API hipError_t hipMemPoolCreate(hipMemPool_t *pool, const PoolProperties *properties) {
  return locked([&] {
    require(pool != nullptr && properties != nullptr, hipErrorInvalidValue,
            "hipMemPoolCreate: null pointer");
    require(properties->allocationType == kAllocationPinned &&
                properties->location.type == kLocationDevice,
            hipErrorInvalidValue, "hipMemPoolCreate: pinned memory of a device, and nothing else");
    require(properties->handleTypes == 0, hipErrorNotSupported,
            "hipMemPoolCreate: pools that other processes share are not offered by the emulator");
    auto created = std::make_unique<ihipMemPoolHandle_t>();
    created->device = Runtime::instance().device(properties->location.id).ordinal;
    *pool = created.get();
    pools().created[*pool] = std::move(created);
  });
}
/// What was allocated from it stays until it is freed.
FLYEMU_API hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return locked([&] {
    check(pool);
    require(pools().created.count(pool) != 0, hipErrorInvalidValue,
            "hipMemPoolDestroy: a device's default pool stays");
    for (auto it = pools().current.begin(); it != pools().current.end();)
      it = it->second == pool ? pools().current.erase(it) : std::next(it);
    pools().created.erase(pool);
  });
}
FLYEMU_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return locked([&] { check(pool); });
}

FLYEMU_API hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, int attribute, void *value) {
  return locked([&] {
    ihipMemPoolHandle_t &p = check(pool);
    require(value != nullptr, hipErrorInvalidValue, "hipMemPoolGetAttribute: null pointer");
    if (attribute >= kReuseFirst && attribute <= kReuseLast) {
      std::memcpy(value, &p.reuse[attribute - kReuseFirst], sizeof(int));
      return;
    }
    const uint64_t used = bytesInUse(p);
    uint64_t answer = 0;
    if (attribute == kReleaseThreshold)
      answer = p.releaseThreshold;
    else if (attribute == kReservedCurrent || attribute == kUsedCurrent)
      answer = used;
    else if (attribute == kReservedHigh || attribute == kUsedHigh)
      answer = p.highest;
    else
      throw EmulatorError(hipErrorInvalidValue, "hipMemPoolGetAttribute: attribute " +
                                                    std::to_string(attribute) + " is not known");
    std::memcpy(value, &answer, sizeof answer);
  });
}
FLYEMU_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, int attribute, const void *value) {
  return locked([&] {
    ihipMemPoolHandle_t &p = check(pool);
    require(value != nullptr, hipErrorInvalidValue, "hipMemPoolSetAttribute: null pointer");
    if (attribute >= kReuseFirst && attribute <= kReuseLast) {
      std::memcpy(&p.reuse[attribute - kReuseFirst], value, sizeof(int));
      return;
    }
    uint64_t wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    if (attribute == kReleaseThreshold) {
      p.releaseThreshold = wanted;
      return;
    }
    require((attribute == kReservedHigh || attribute == kUsedHigh) && wanted == 0,
            hipErrorInvalidValue,
            "hipMemPoolSetAttribute: the threshold may be set, and highest values may be reset");
    p.highest = 0;
  });
}

// All emulated devices live in one address space: any may access any pool.
FLYEMU_API hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const Access *list, size_t count) {
  return locked([&] {
    check(pool);
    require(list != nullptr || count == 0, hipErrorInvalidValue,
            "hipMemPoolSetAccess: null pointer");
    for (size_t i = 0; i < count; ++i)
      Runtime::instance().device(list[i].location.id);
  });
}
FLYEMU_API hipError_t hipMemPoolGetAccess(int *flags, hipMemPool_t pool, const Location *location) {
  return locked([&] {
    check(pool);
    require(flags != nullptr && location != nullptr, hipErrorInvalidValue,
            "hipMemPoolGetAccess: null pointer");
    Runtime::instance().device(location->id);
    *flags = kAccessReadWrite;
  });
}

FLYEMU_API hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t pool,
                                             hipStream_t stream) {
  return locked([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipMallocFromPoolAsync: null pointer");
    refuseWhileCapturing(stream);
    *pointer = allocateFrom(check(pool), bytes);
  });
}
FLYEMU_API hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  return locked([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipMallocAsync: null pointer");
    refuseWhileCapturing(stream);
    *pointer = allocateFrom(currentPool(Runtime::instance().current()), bytes);
  });
}
