// SPDX-License-Identifier: Apache-2.0
//
// Runs the tables of operands and results, `<operation>.txt` in the folder given as argument. Each
// row reads `operand ; operand {attributes} => result`, with the result `error` where the operation
// must report one. Rows about memory types, which the algebra does not have, are for the dialect.

#include "Operation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace fly;
using namespace fly::test;

namespace {

struct Tally {
  unsigned run = 0;
  unsigned failed = 0;
  unsigned skipped = 0;
};

Operation parseOperation(llvm::StringRef name, llvm::StringRef text) {
  Operation operation{name, {}, {}};
  if (const size_t brace = text.find(" {"); brace != llvm::StringRef::npos && text.ends_with("}")) {
    operation.attributes = text.substr(brace + 2).drop_back();
    text = text.take_front(brace);
  }
  text.split(operation.operands, " ; ");
  return operation;
}

void runRow(llvm::StringRef name, llvm::StringRef row, llvm::StringRef where, Tally &tally) {
  const auto [operands, expected] = row.split(" => ");
  AlgebraContext cx;
  const std::optional<std::string> result = evaluate(cx, parseOperation(name, operands));
  if (!result) {
    ++tally.skipped;
    return;
  }
  ++tally.run;
  const bool wantsError = expected.starts_with("error");
  if (wantsError ? cx.failed() && !cx.message().empty() : !cx.failed() && *result == expected)
    return;
  ++tally.failed;
  llvm::errs() << where << ": " << row << "\n    got "
               << (cx.failed() ? "error: " + cx.message() : *result) << "\n";
}

Tally runFile(llvm::StringRef path) {
  Tally tally;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    llvm::errs() << path << ": " << buffer.getError().message() << "\n";
    tally.failed = 1;
    return tally;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (const auto &[index, line] : llvm::enumerate(lines))
    if (!line.trim().empty() && !line.starts_with("#"))
      runRow(llvm::sys::path::stem(path), line, (path + ":" + llvm::Twine(index + 1)).str(), tally);
  return tally;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  Tally total;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(argv[1], error), end; file != end && !error;
       file.increment(error)) {
    const Tally tally = runFile(file->path());
    total.run += tally.run;
    total.failed += tally.failed;
    total.skipped += tally.skipped;
  }
  llvm::outs() << total.run << " rows run, " << total.failed << " failed, " << total.skipped
               << " for the dialect\n";
  return error || total.failed != 0 || total.run == 0;
}
