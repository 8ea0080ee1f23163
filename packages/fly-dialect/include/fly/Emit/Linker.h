// SPDX-License-Identifier: Apache-2.0
//
// LLVM's ELF linker, called in process.
#ifndef FLY_EMIT_LINKER_H
#define FLY_EMIT_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Runs `ld.lld` with `arguments` (without the program name). lld keeps its state in globals, so
/// calls are serialised by a mutex; it may be called from any thread. The error holds the linker's
/// messages.
llvm::Error linkElf(llvm::ArrayRef<llvm::StringRef> arguments);

/// A directory of its own under the system's temporary folder, removed with everything in it on
/// destruction. It is locked as long as it is used. What a killed process of this user has left
/// behind is not, and goes when a process makes its first one.
class TemporaryDirectory {
public:
  static llvm::Expected<TemporaryDirectory> create();
  TemporaryDirectory(TemporaryDirectory &&other) noexcept;
  TemporaryDirectory &operator=(TemporaryDirectory &&) = delete;
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory();

  /// The path of a file `name` in the directory, whether it exists or not.
  llvm::SmallString<128> file(llvm::StringRef name) const;

private:
  TemporaryDirectory(llvm::SmallString<128> path, int descriptor)
      : path(std::move(path)), descriptor(descriptor) {}
  llvm::SmallString<128> path;
  int descriptor; ///< carries the lock
};

/// Writes `contents` to the file `path`.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef contents);

} // namespace fly

#endif // FLY_EMIT_LINKER_H
