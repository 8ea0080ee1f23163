// SPDX-License-Identifier: Apache-2.0
//
// The tables of operands and results: files `<operation>.txt` with rows
// `operand ; operand {attributes} => result`, where lines that begin with `#` are comments.

#ifndef FLY_UNITTESTS_ALGEBRA_TABLES_H
#define FLY_UNITTESTS_ALGEBRA_TABLES_H

#include "Operation.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace fly::test {

struct Row {
  Operation operation;
  /// `error`, possibly with a message, where the operation must report one.
  llvm::StringRef expected;
  /// File and line.
  std::string where;
  llvm::StringRef text;

  bool wantsError() const { return expected.starts_with("error"); }
};

/// Calls `visit` for each row of each table in `folder`. False when a file can't be read.
bool forEachRow(llvm::StringRef folder, llvm::function_ref<void(const Row &)> visit);

} // namespace fly::test

#endif // FLY_UNITTESTS_ALGEBRA_TABLES_H
