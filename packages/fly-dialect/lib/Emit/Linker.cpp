// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/Linker.h"
#include "fly/Emit/CrashGuard.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace fly;

Error fly::linkElf(ArrayRef<StringRef> arguments) {
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return createStringError("the linker crashed earlier in this process and cannot be used again");

  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  // One thread: the files are small, and no worker outlives the call.
  SmallVector<const char *> argv = {"ld.lld", "--threads=1"};
  for (StringRef argument : arguments)
    argv.push_back(saver.save(argument).data()); // NOLINT: what is saved ends in NUL

  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result{/*retCode=*/1, /*canRunAgain=*/true};
  // lldMain recovers from lld's own fatal errors only when crash recovery is on, which runGuarded
  // takes care of.
  Error crash = runGuarded([&] {
    result.canRunAgain = false; // Unless it returns.
    result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  });
  usable = result.canRunAgain;
  if (crash)
    return crash;
  if (result.retCode == 0)
    return Error::success();

  SmallVector<StringRef> lines;
  StringRef(messages).split(lines, '\n', -1, /*KeepEmpty=*/false);
  // Where a symbol is referenced from is a temporary file's name.
  llvm::erase_if(lines, [](StringRef line) { return line.starts_with(">>>"); });
  for (StringRef &line : lines) {
    line.consume_front("ld.lld: ");
    line.consume_front("error: ");
  }
  // lld maps files, which no reserve of memory helps; that it could not, only its message says.
  const std::string noMemory = std::make_error_code(std::errc::not_enough_memory).message();
  const auto *wanting = find_if(lines, [&](StringRef line) { return line.ends_with(noMemory); });
  if (wanting != lines.end())
    return createStringError("LLVM: out of memory (linking: " + *wanting + ")");
  return createStringError("linking failed: " + (lines.empty() ? "no message" : join(lines, "; ")));
}

namespace {

constexpr StringLiteral directoryPrefix = "fly-emit";

/// Opens the directory `path`; -1 when it is none.
int openDirectory(const Twine &path) {
  return ::open(path.str().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Whether `path` still stands for the open directory, and that is this user's.
bool isOurs(const Twine &path, int descriptor) {
  struct stat named, opened;
  return !::lstat(path.str().c_str(), &named) && !::fstat(descriptor, &opened) &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino &&
         opened.st_uid == ::geteuid();
}

/// Removes the directories in `folder` that processes of this user made and no process holds.
void removeAbandoned(const Twine &folder) {
  std::error_code error;
  SmallVector<std::string> paths;
  for (sys::fs::directory_iterator at(folder, error, /*follow_symlinks=*/false), end;
       !error && at != end; at.increment(error))
    if (sys::path::filename(at->path()).starts_with((directoryPrefix + "-").str()))
      paths.push_back(at->path());
  for (const std::string &path : paths) {
    int descriptor = openDirectory(path);
    if (descriptor < 0)
      continue;
    if (!::flock(descriptor, LOCK_EX | LOCK_NB) && isOurs(path, descriptor))
      sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
    ::close(descriptor);
  }
}

} // namespace

Expected<TemporaryDirectory> TemporaryDirectory::create() {
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    SmallString<128> path;
    if (std::error_code error = sys::fs::createUniqueDirectory(directoryPrefix, path))
      return createStringError(error, "cannot create a temporary directory");
    int descriptor = openDirectory(path);
    if (descriptor < 0)
      continue; // Another process took it for abandoned, before it was locked.
    const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (taken || !isOurs(path, descriptor)) {
      ::close(descriptor);
      continue;
    }
    TemporaryDirectory made(std::move(path), descriptor);
    static std::once_flag swept;
    std::call_once(swept, [&] { removeAbandoned(sys::path::parent_path(made.path)); });
    return made;
  }
  return createStringError("cannot create a temporary directory that other processes leave alone");
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)) {
  other.path.clear();
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path.empty()) [[maybe_unused]]
    std::error_code ignored = sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
  if (descriptor >= 0)
    ::close(descriptor);
}

SmallString<128> TemporaryDirectory::file(StringRef name) const {
  SmallString<128> result = path;
  sys::path::append(result, name);
  return result;
}

Error fly::writeFile(StringRef path, StringRef contents) {
  std::error_code error;
  raw_fd_ostream stream(path, error, sys::fs::OF_None);
  if (error)
    return createStringError(error, "cannot write '" + path + "'");
  stream << contents;
  stream.close();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return createStringError(error, "cannot write '" + path + "'");
  }
  return Error::success();
}
