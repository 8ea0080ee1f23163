// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sanitize/release_order.h"
#include "sanitize/report.h"

namespace flyemu {

/// Races in global memory between waves of one launch, of one workgroup or of two: they touch the
/// same bytes, at least one writes, and not both atomically nor, as plain stores, the same value.
/// ReleaseOrder says what happens before what.
class GlobalRaceCheck {
  struct Page;

public:
  explicit GlobalRaceCheck(ReportSink &sink) : sink_(sink) {}

  /// What a workgroup looks up again and again.
  struct Cache {
    std::array<std::pair<uint64_t, Page *>, 64> pages = {};
  };

  /// `order` and `cache` belong to the wave's workgroup.
  void access(Wave &wave, const Instruction &inst, const LaneAccess &access, ReleaseOrder &order,
              Cache &cache);

  /// A wave is at a barrier of all workgroups.
  void meet(uint32_t wave, ReleaseOrder &order);

  static uint64_t numberOf(const WorkGroup &group);

  /// The kernel's workgroups make an order by atomics and the like: a wave may be in order with
  /// some of those that touched a place, and not with others, so that all of them have to be known.
  void groupsMakeOrder() { makesOrder_ = true; }

  /// gfx11's atomic stores look like all others: each may be one, in a kernel that synchronises.
  void storesMayBeAtomic() { storesMayBeAtomic_ = true; }

private:
  /// In which an access is atomic: loads and stores with sc0 within their workgroup.
  enum class Scope : uint8_t { None, WorkGroup, Device };
  /// Who touched which bytes of a dword, when, and where in the code.
  struct Touch : WaveAccess {
    const Instruction *inst = nullptr;
    Scope scope = Scope::None;
    bool either = false; ///< a store that may be atomic or plain
    uint8_t bytes = 0;   ///< of the dword, one bit each

    bool plain() const { return scope == Scope::None || either; }
  };
  /// Of a dword, beyond those that its cell has room for: the latest so many.
  struct More {
    static constexpr size_t kMost = 64;
    struct List {
      std::vector<Touch> touches;
      uint64_t waves = 0; ///< a bit for each wave that may be among them, by its number modulo 64
      size_t next = 0;    ///< to be replaced, once there are so many
    };
    List writers;
    List readers;
  };
  struct Cell {
    std::array<Touch, 2> writers;
    std::array<Touch, 3> readers;
    uint32_t value = 0; ///< what the writers left, all four bytes
    std::unique_ptr<More> more;
  };
  static constexpr uint64_t kPageDwords = 256;
  struct Page {
    std::mutex mutex;
    std::array<Cell, kPageDwords> cells;
    std::unordered_map<uint64_t, WaveTimes> released; ///< at a dword
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  struct Part; ///< of an access: one lane, one dword

  Page &pageOf(uint64_t number, Cache &cache);
  bool isEither(AccessKind kind) const { return storesMayBeAtomic_ && kind == AccessKind::Store; }
  static Scope scopeOf(const Instruction &inst, AccessKind kind);
  void visit(const Part &part, Page &page);
  void check(const Part &part, const Cell &cell);
  void checkReaders(const Part &part, const Cell &cell);
  void checkScalarCache(const Part &part, const Touch &writer);
  void report(const Part &part, const Touch &other, const char *what, const Instruction *plainLoad);
  void record(const Part &part, Cell &cell);
  template <size_t Count>
  bool keep(std::array<Touch, Count> &touches, const Part &part, Touch &pushedOut);
  void keepMore(More::List &list, const Part &part, const Touch *pushedOut);

  /// Of all pages together: 160 MB.
  static constexpr uint32_t kMostMore = 1U << 22;

  ReportSink &sink_;
  bool storesMayBeAtomic_ = false;
  bool makesOrder_ = false;
  std::atomic<uint32_t> more_{0}; ///< touches that pages know beyond their cells
  std::array<Shard, 64> shards_;
  std::mutex meetingMutex_;
  WaveTimes meeting_;
};

} // namespace flyemu
