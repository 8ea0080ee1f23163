// SPDX-License-Identifier: Apache-2.0

#include "Tables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace fly::test;

static bool readTable(llvm::StringRef path, llvm::function_ref<void(const Row &)> visit) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    llvm::errs() << path << ": " << buffer.getError().message() << "\n";
    return false;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (const auto &[index, line] : llvm::enumerate(lines)) {
    if (line.trim().empty() || line.starts_with("#"))
      continue;
    const auto [operation, expected] = line.split(" => ");
    visit({parseOperation(llvm::sys::path::stem(path), operation), expected,
           (path + ":" + llvm::Twine(index + 1)).str(), line});
  }
  return true;
}

bool fly::test::forEachRow(llvm::StringRef folder, llvm::function_ref<void(const Row &)> visit) {
  std::error_code error;
  bool ok = true;
  for (llvm::sys::fs::directory_iterator file(folder, error), end; file != end && !error;
       file.increment(error))
    ok &= readTable(file->path(), visit);
  if (error)
    llvm::errs() << folder << ": " << error.message() << "\n";
  return ok && !error;
}
