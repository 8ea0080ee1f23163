// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/tensor_layout.h"
#include "device/written_bytes.h"

namespace flyemu {

/// Imported: an allocation of another process.
enum class MemoryKind : uint8_t {
  Registered,
  Device,
  Host,
  Managed,
  Imported,
  CodeObject,
  Internal
};

/// One registration or allocation.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool writable = true;
  MemoryKind kind = MemoryKind::Registered;
  int device = 0;
  unsigned flags = 0;
  std::string name;
  std::shared_ptr<const TensorLayout> tensor; ///< null where only bytes are known
  uint64_t serial = 0;                        ///< the order of registration
  std::shared_ptr<WrittenBytes> written;      ///< of hipMalloc; null: all of it counts as written
};

/// What kernels of one launch may access: immutable, so that all threads read it without locks.
class MemoryView {
public:
  struct Segment {
    uint64_t begin;
    uint64_t end;
    bool writable;
  };

  /// `freed`: what was allocated once and still belongs to nobody else, for reports.
  explicit MemoryView(std::vector<MemoryRange> ranges, std::vector<MemoryRange> freed = {});

  /// The segment that holds [address, address + size), or null. Adjacent ranges are one segment.
  const Segment *find(uint64_t address, uint64_t size) const;
  /// Ranges that hold the address; without one, the nearest. For reports.
  std::string describe(uint64_t address, uint64_t size) const;
  /// The range that holds the address, else the nearest; null if none is registered.
  const MemoryRange *nearest(uint64_t address) const;
  /// What is known of the allocation that an address lies in; null where all counts as written.
  WrittenBytes *writtenAt(uint64_t address) const;
  bool followsWrites() const { return !written_.empty(); }
  const std::vector<MemoryRange> &ranges() const { return ranges_; }
  const std::vector<MemoryRange> &freed() const { return freed_; }

private:
  std::vector<MemoryRange> ranges_;
  std::vector<MemoryRange> freed_;
  std::vector<Segment> segments_;
  std::vector<WrittenBytes *> written_; ///< by address; of ranges_
};

/// All memory that emulated devices may access, in host addresses. Thread-safe.
class MemoryMap {
public:
  static MemoryMap &instance();

  void add(MemoryRange range);
  /// Remove the latest range of a kind that begins at the address; false if there is none.
  bool remove(uint64_t begin, MemoryKind kind, MemoryRange *removed = nullptr);
  /// A removed range whose addresses nobody else gets, until `forget` says so.
  void quarantine(MemoryRange range);
  void forget(uint64_t begin);
  /// The innermost range that contains the address; false if there is none.
  bool lookup(uint64_t address, MemoryRange &out) const;
  /// Somebody has written these bytes, or copied them from others (which may never have been).
  void noteWritten(uint64_t address, uint64_t bytes);
  void noteCopied(uint64_t to, uint64_t from, uint64_t bytes);
  /// Something whose writes are not followed has run.
  void noteAllWritten();
  /// Bytes allocated on a device (MemoryKind::Device and Managed).
  uint64_t allocated(int device) const;
  std::shared_ptr<const MemoryView> view();

private:
  WrittenBytes *writtenAt(uint64_t address) const;

  mutable std::mutex mutex_;
  std::multimap<uint64_t, MemoryRange> ranges_;
  std::map<uint64_t, MemoryRange> freed_;
  std::shared_ptr<const MemoryView> view_; ///< null after a change
  uint64_t serial_ = 0;
};

} // namespace flyemu
