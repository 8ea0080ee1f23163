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

#include <mutex>

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
  lld::Result result{/*retCode=*/1, /*canRunAgain=*/false};
  // lldMain recovers from lld's own fatal errors only when crash recovery is on, which runGuarded
  // takes care of.
  Error crash = runGuarded(
      [&] { result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}}); });
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
  return createStringError("linking failed: " + (lines.empty() ? "no message" : join(lines, "; ")));
}

Expected<TemporaryDirectory> TemporaryDirectory::create() {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createUniqueDirectory("fly-emit", path))
    return createStringError(error, "cannot create a temporary directory");
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory &&other) noexcept
    : path(std::move(other.path)) {
  other.path.clear();
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path.empty()) [[maybe_unused]]
    std::error_code ignored = sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
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
