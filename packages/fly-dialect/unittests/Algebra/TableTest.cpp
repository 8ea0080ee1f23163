// SPDX-License-Identifier: Apache-2.0
//
// Runs the tables in the folder given as argument: each row must give its result, or report an
// error. Rows about memory types, which the algebra does not have, are for the dialect.

#include "Tables.h"

using namespace fly;
using namespace fly::test;

namespace {
struct Tally {
  unsigned run = 0;
  unsigned failed = 0;
  unsigned skipped = 0;
};
} // namespace

static void runRow(const Row &row, Tally &tally) {
  AlgebraContext cx;
  const auto operands = parseOperands(row.operation);
  std::optional<Value> result;
  if (operands)
    result = evaluate(cx, row.operation, *operands);
  if (!result) {
    ++tally.skipped;
    return;
  }
  ++tally.run;
  const std::string text = toText(*result);
  if (row.wantsError() ? cx.failed() && !cx.message().empty()
                       : !cx.failed() && text == row.expected)
    return;
  ++tally.failed;
  llvm::errs() << row.where << ": " << row.text << "\n    got "
               << (cx.failed() ? "error: " + cx.message() : text) << "\n";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  Tally tally;
  const bool read = forEachRow(argv[1], [&](const Row &row) { runRow(row, tally); });
  llvm::outs() << tally.run << " rows run, " << tally.failed << " failed, " << tally.skipped
               << " for the dialect\n";
  return !read || tally.failed != 0 || tally.run == 0;
}
