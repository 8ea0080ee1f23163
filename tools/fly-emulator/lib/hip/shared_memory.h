// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyemu {

/// Memory that other processes of the same user can open by a name of plain bytes: what IPC handles
/// hold. It is an anonymous file, which lives as long as someone has it open or mapped.
class SharedMemory {
public:
  struct Name {
    int64_t process = 0;
    uint64_t number = 0; ///< random, so that no later file is taken for this one
    uint64_t bytes = 0;
    int32_t file = -1; ///< descriptor in the process that made it
  };

  /// EmulatorError (hipErrorOutOfMemory) where the host refuses.
  static SharedMemory create(size_t bytes);
  /// EmulatorError (hipErrorInvalidHandle) where the name is no name, its process has ended or has
  /// given the memory back, or may not be looked into.
  static SharedMemory open(const Name &name);

  SharedMemory(SharedMemory &&other) noexcept;
  SharedMemory &operator=(SharedMemory &&) = delete;
  ~SharedMemory();

  const Name &name() const { return name_; }
  static bool isOwn(const Name &name); ///< made by this process
  /// Map all of it: at `at`, in place of what is there, or anywhere for null. EmulatorError
  /// (hipErrorOutOfMemory) where the host refuses.
  void *map(void *at) const;
  /// Fill it with what `from` holds.
  void write(const void *from) const;

private:
  SharedMemory(const Name &name, int file) : name_(name), file_(file) {}

  Name name_;
  int file_;
};

} // namespace flyemu
