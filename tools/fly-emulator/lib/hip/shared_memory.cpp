// SPDX-License-Identifier: Apache-2.0
#include "hip/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

std::string fileName(uint64_t number) { return "fly-emulator-" + hex(number); }

[[noreturn]] void refuse(const char *what) {
  throw EmulatorError(hipErrorOutOfMemory, std::string("sharing memory with other processes: ") +
                                               what + ": " + std::strerror(errno));
}

/// Is a descriptor, given by its path in /proc, that file?
bool leadsTo(const std::string &path, uint64_t number) {
  char target[128];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  const std::string expected = "/memfd:" + fileName(number) + " (deleted)";
  return length == static_cast<ssize_t>(expected.size()) &&
         std::memcmp(target, expected.data(), expected.size()) == 0;
}

} // namespace

SharedMemory SharedMemory::create(size_t bytes) {
  std::random_device random;
  Name name;
  name.process = getpid();
  name.number = uint64_t{random()} << 32 | random();
  name.bytes = bytes;
  name.file = memfd_create(fileName(name.number).c_str(), MFD_CLOEXEC);
  if (name.file < 0)
    refuse("memfd_create");
  SharedMemory made(name, name.file);
  if (ftruncate(name.file, static_cast<off_t>(bytes)) != 0)
    refuse("ftruncate");
  return made;
}

SharedMemory SharedMemory::open(const Name &name) {
  const std::string path =
      format("/proc/%lld/fd/%d", static_cast<long long>(name.process), name.file);
  const auto gone = [&]() -> EmulatorError {
    return {hipErrorInvalidHandle,
            format("the handle leads to nothing: process %lld has ended, has given the memory or "
                   "event back, or belongs to somebody else",
                   static_cast<long long>(name.process))};
  };
  if (!leadsTo(path, name.number))
    throw gone();
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    throw gone();
  SharedMemory opened(name, file);
  struct stat status = {};
  if (!leadsTo("/proc/self/fd/" + std::to_string(file), name.number) || fstat(file, &status) != 0 ||
      static_cast<uint64_t>(status.st_size) != name.bytes)
    throw gone();
  return opened;
}

SharedMemory::SharedMemory(SharedMemory &&other) noexcept : name_(other.name_), file_(other.file_) {
  other.file_ = -1;
}

SharedMemory::~SharedMemory() {
  if (file_ >= 0)
    close(file_);
}

bool SharedMemory::isOwn(const Name &name) { return name.process == getpid(); }

void *SharedMemory::map(void *at) const {
  const int fixed = at != nullptr ? MAP_FIXED : 0;
  void *memory = mmap(at, name_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, file_, off_t{0});
  if (memory == MAP_FAILED)
    refuse("mmap");
  return memory;
}

void SharedMemory::write(const void *from) const {
  const auto *bytes = static_cast<const uint8_t *>(from);
  for (uint64_t done = 0; done < name_.bytes;) {
    const ssize_t written =
        pwrite(file_, bytes + done, name_.bytes - done, static_cast<off_t>(done));
    if (written < 0 && errno != EINTR)
      refuse("pwrite");
    done += written > 0 ? static_cast<uint64_t>(written) : 0;
  }
}

} // namespace flyemu
