// SPDX-License-Identifier: Apache-2.0
#include "hip/allocation.h"

#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "hip/device_failure.h"
#include "hip/runtime.h"
#include "support/format.h"

namespace flyemu {
namespace {

struct Block {
  size_t bytes = 0; ///< whole pages, the one behind not counted
  std::optional<SharedMemory> shared;
};

struct Blocks {
  std::mutex mutex;
  std::map<uint64_t, Block> byAddress;
  std::deque<std::pair<uint64_t, size_t>> freed; ///< addresses that are kept, and bytes

  bool isFreed(uint64_t address) const {
    return std::any_of(freed.begin(), freed.end(), [&](const auto &one) {
      return address >= one.first && address < one.first + one.second;
    });
  }
};
Blocks &blocks() {
  // Never destroyed: clients free memory from their own static destructors.
  static auto *instance = new Blocks;
  return *instance;
}

std::shared_mutex &memoryMutex() {
  static auto *mutex = new std::shared_mutex;
  return *mutex;
}

/// The contents go, and the addresses stay taken for a while: a pointer that is used after its
/// memory has been freed shall not lead into somebody else's. Blocks are locked.
void quarantine(const MemoryRange &range, size_t bytes) {
  constexpr size_t kKept = 1024;
  void *memory = reinterpret_cast<void *>(range.begin);
  if (mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED) {
    munmap(memory, bytes);
    return;
  }
  MemoryMap::instance().quarantine(range);
  std::deque<std::pair<uint64_t, size_t>> &freed = blocks().freed;
  freed.emplace_back(range.begin, bytes);
  if (freed.size() <= kKept)
    return;
  const auto [oldest, size] = freed.front();
  freed.pop_front();
  MemoryMap::instance().forget(oldest);
  munmap(reinterpret_cast<void *>(oldest), size);
}

} // namespace

void *allocate(size_t bytes, MemoryKind kind, unsigned flags) {
  Runtime &runtime = Runtime::instance();
  const Device &device = runtime.device(runtime.current());
  requireUnfailed(device.ordinal);
  if (bytes == 0)
    return nullptr;
  const uint64_t used = MemoryMap::instance().allocated(device.ordinal);
  const uint64_t total = device.architecture->memoryBytes;
  if (bytes > total || used > total - bytes)
    throw EmulatorError(hipErrorOutOfMemory,
                        format("%llu bytes: the emulated device has %llu of %llu left",
                               static_cast<unsigned long long>(bytes),
                               static_cast<unsigned long long>(total - used),
                               static_cast<unsigned long long>(total)));
  const size_t pages = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  // Clients reserve most of a device's memory at once, which is more than most hosts have: pages
  // are taken as they are touched.
  void *memory = mmap(nullptr, pages + kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw EmulatorError(hipErrorOutOfMemory, "the host has no memory for a device allocation");
  MemoryRange range;
  range.begin = reinterpret_cast<uint64_t>(memory);
  range.end = range.begin + bytes;
  range.kind = kind;
  range.device = device.ordinal;
  range.flags = flags;
  range.name = kind == MemoryKind::Host ? "host allocation" : "device allocation";
  if (kind == MemoryKind::Device) // hosts write into the others without a call
    range.written = std::make_shared<WrittenBytes>(range.begin, bytes);
  {
    const std::lock_guard<std::mutex> lock(blocks().mutex);
    blocks().byAddress[range.begin].bytes = pages;
  }
  MemoryMap::instance().add(range);
  return memory;
}

bool release(void *pointer, MemoryKind kind) {
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  MemoryRange range;
  if (!MemoryMap::instance().lookup(begin, range))
    return false;
  const auto alone = changeMemory();
  const std::lock_guard<std::mutex> lock(blocks().mutex);
  const auto found = blocks().byAddress.find(begin);
  if (found == blocks().byAddress.end() || !MemoryMap::instance().remove(begin, kind))
    return false;
  quarantine(range, found->second.bytes + kPageBytes);
  blocks().byAddress.erase(found);
  return true;
}

bool isBehindAllocation(uint64_t address) {
  MemoryRange range;
  const std::lock_guard<std::mutex> lock(blocks().mutex);
  if (blocks().isFreed(address))
    return true;
  auto next = blocks().byAddress.upper_bound(address);
  if (next == blocks().byAddress.begin())
    return false;
  --next;
  return address < next->first + next->second.bytes + kPageBytes &&
         !MemoryMap::instance().lookup(address, range);
}

SharedMemory::Name shareAllocation(uint64_t begin) {
  {
    const std::lock_guard<std::mutex> lock(blocks().mutex);
    const auto found = blocks().byAddress.find(begin);
    if (found != blocks().byAddress.end() && found->second.shared)
      return found->second.shared->name();
  }
  const auto alone = changeMemory();
  const std::lock_guard<std::mutex> lock(blocks().mutex);
  const auto found = blocks().byAddress.find(begin);
  require(found != blocks().byAddress.end(), hipErrorInvalidValue,
          "only memory of hipMalloc can be shared with other processes");
  Block &block = found->second;
  if (!block.shared) {
    void *memory = reinterpret_cast<void *>(begin);
    SharedMemory shared = SharedMemory::create(block.bytes);
    shared.write(memory);
    shared.map(memory);
    block.shared.emplace(std::move(shared));
    MemoryMap::instance().noteWritten(begin, block.bytes); // other processes write there too
  }
  return block.shared->name();
}

bool sharesMemory() {
  for (const MemoryRange &range : MemoryMap::instance().view()->ranges())
    if (range.kind == MemoryKind::Imported)
      return true;
  const std::lock_guard<std::mutex> lock(blocks().mutex);
  for (const auto &[begin, block] : blocks().byAddress)
    if (block.shared)
      return true;
  return false;
}

bool isShared(uint64_t begin, const SharedMemory::Name &name) {
  const std::lock_guard<std::mutex> lock(blocks().mutex);
  const auto found = blocks().byAddress.find(begin);
  if (found == blocks().byAddress.end() || !found->second.shared)
    return false;
  const SharedMemory::Name &own = found->second.shared->name();
  return own.number == name.number && own.bytes == name.bytes && own.file == name.file;
}

std::unique_lock<std::shared_mutex> changeMemory() {
  return std::unique_lock<std::shared_mutex>(memoryMutex());
}

std::shared_lock<std::shared_mutex> useMemory() {
  return std::shared_lock<std::shared_mutex>(memoryMutex());
}

} // namespace flyemu
