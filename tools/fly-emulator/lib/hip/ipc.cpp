// SPDX-License-Identifier: Apache-2.0
//
// Handles of memory and of events for other processes. A handle may also be opened by the process
// that made it, for another of its emulated devices: the memory then is where it was.
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <optional>

#include "hip/allocation.h"
#include "hip/ipc.h"
#include "hip/runtime.h"
#include "support/format.h"

using namespace flyemu;

namespace {

constexpr unsigned kLazyEnablePeerAccess = 1;

struct MemoryHandle {
  SharedMemory::Name name;
  uint64_t begin;  ///< of the allocation, in its process
  uint64_t bytes;  ///< that were asked for
  uint64_t offset; ///< of the pointer that the handle was made of
};
static_assert(sizeof(MemoryHandle) <= sizeof(hipIpcMemHandle_t));
static_assert(sizeof(SharedMemory::Name) <= sizeof(hipIpcEventHandle_t));

/// An allocation of somebody's that is open here, however often.
struct Opened {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  unsigned times = 0;
  std::optional<SharedMemory> memory; ///< where it is mapped by us
};
struct OpenedMemory {
  std::mutex mutex;
  std::map<uint64_t, Opened> byNumber;
};
OpenedMemory &openedMemory() {
  static auto *instance = new OpenedMemory;
  return *instance;
}

Opened openOwn(const MemoryHandle &handle) {
  MemoryRange range;
  require(isShared(handle.begin, handle.name) &&
              MemoryMap::instance().lookup(handle.begin, range) &&
              range.end - range.begin == handle.bytes,
          hipErrorInvalidHandle, "hipIpcOpenMemHandle: the allocation is gone");
  Opened opened;
  opened.begin = handle.begin;
  opened.bytes = handle.bytes;
  return opened;
}

Opened openForeign(const MemoryHandle &handle) {
  Opened opened;
  opened.memory.emplace(SharedMemory::open(handle.name));
  opened.begin = reinterpret_cast<uint64_t>(opened.memory->map(nullptr));
  opened.bytes = handle.bytes;
  MemoryRange range;
  range.begin = opened.begin;
  range.end = opened.begin + handle.bytes;
  range.kind = MemoryKind::Imported;
  range.device = Runtime::instance().current();
  range.name = format("memory of process %lld", static_cast<long long>(handle.name.process));
  MemoryMap::instance().add(range);
  return opened;
}

} // namespace

FLYEMU_API hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *pointer) {
  return guarded([&] {
    MemoryRange range;
    const auto address = reinterpret_cast<uint64_t>(pointer);
    require(handle != nullptr && MemoryMap::instance().lookup(address, range) &&
                range.kind == MemoryKind::Device,
            hipErrorInvalidValue, "hipIpcGetMemHandle: null pointer, or no memory of hipMalloc");
    MemoryHandle contents = {};
    contents.name = shareAllocation(range.begin);
    contents.begin = range.begin;
    contents.bytes = range.end - range.begin;
    contents.offset = address - range.begin;
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle->reserved, &contents, sizeof contents);
  });
}
FLYEMU_API hipError_t hipIpcOpenMemHandle(void **pointer, hipIpcMemHandle_t handle,
                                          unsigned flags) {
  return guarded([&] {
    require(pointer != nullptr && flags <= kLazyEnablePeerAccess, hipErrorInvalidValue,
            "hipIpcOpenMemHandle: null pointer, or flags other than hipIpcMemLazyEnablePeerAccess");
    MemoryHandle contents;
    std::memcpy(&contents, handle.reserved, sizeof contents);
    require(contents.bytes != 0 && contents.bytes <= contents.name.bytes &&
                contents.offset < contents.bytes,
            hipErrorInvalidHandle, "hipIpcOpenMemHandle: no handle of hipIpcGetMemHandle");
    const std::lock_guard<std::mutex> lock(openedMemory().mutex);
    auto &all = openedMemory().byNumber;
    auto found = all.find(contents.name.number);
    if (found == all.end())
      found = all.emplace(contents.name.number, SharedMemory::isOwn(contents.name)
                                                    ? openOwn(contents)
                                                    : openForeign(contents))
                  .first;
    ++found->second.times;
    *pointer = reinterpret_cast<void *>(found->second.begin + contents.offset);
  });
}
FLYEMU_API hipError_t hipIpcCloseMemHandle(void *pointer) {
  return guarded([&] {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const std::lock_guard<std::mutex> lock(openedMemory().mutex);
    auto &all = openedMemory().byNumber;
    for (auto it = all.begin(); it != all.end(); ++it) {
      Opened &opened = it->second;
      if (address < opened.begin || address >= opened.begin + opened.bytes)
        continue;
      if (--opened.times == 0) {
        if (opened.memory) {
          const auto alone = changeMemory();
          MemoryMap::instance().remove(opened.begin, MemoryKind::Imported);
          munmap(reinterpret_cast<void *>(opened.begin), opened.memory->name().bytes);
        }
        all.erase(it);
      }
      return;
    }
    throw EmulatorError(hipErrorInvalidValue,
                        "hipIpcCloseMemHandle: nothing that hipIpcOpenMemHandle opened");
  });
}

// What an event stands for has happened when hipEventRecord returns, in whatever process: all that
// is left to share is that the event is there.
FLYEMU_API hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event) {
  return guarded([&] {
    require(handle != nullptr, hipErrorInvalidValue, "hipIpcGetEventHandle: null pointer");
    const SharedMemory::Name name = shareEvent(event);
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle->reserved, &name, sizeof name);
  });
}
FLYEMU_API hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle) {
  return guarded([&] {
    require(event != nullptr, hipErrorInvalidValue, "hipIpcOpenEventHandle: null pointer");
    SharedMemory::Name name;
    std::memcpy(&name, handle.reserved, sizeof name);
    const SharedMemory alive = SharedMemory::open(name);
    *event = importEvent();
  });
}
