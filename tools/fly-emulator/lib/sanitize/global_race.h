// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

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
  struct Cell {
    std::array<Touch, 2> writers;
    std::array<Touch, 3> readers;
    uint32_t value = 0; ///< what the writers left, all four bytes
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
  void report(const Part &part, const Touch &other, const char *what, const Instruction *plainLoad);
  static void record(const Part &part, Cell &cell);
  template <size_t Count> static void keep(std::array<Touch, Count> &touches, const Part &part);

  ReportSink &sink_;
  bool storesMayBeAtomic_ = false;
  std::array<Shard, 64> shards_;
  std::mutex meetingMutex_;
  WaveTimes meeting_;
};

} // namespace flyemu
