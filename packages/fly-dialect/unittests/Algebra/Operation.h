// SPDX-License-Identifier: Apache-2.0
//
// The operations of the algebra by the names that they have in the dialect, on operands in text
// form.

#ifndef FLY_UNITTESTS_ALGEBRA_OPERATION_H
#define FLY_UNITTESTS_ALGEBRA_OPERATION_H

#include "fly/Algebra/Context.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace fly::test {

/// The text of one operation: operands separated by `;`, attributes as `{name=value ...}`.
struct Operation {
  llvm::StringRef name;
  llvm::SmallVector<llvm::StringRef, 4> operands;
  llvm::StringRef attributes;

  /// The value of an attribute as a list of integers; nothing where it is absent.
  std::optional<llvm::SmallVector<int32_t, 4>> integers(llvm::StringRef attribute) const;
  int32_t integer(llvm::StringRef attribute, int32_t otherwise) const;
};

/// The result in text form. Meaningless when the context has failed. Nothing when there is no such
/// operation on operands of these kinds.
std::optional<std::string> evaluate(AlgebraContext &cx, const Operation &operation);

} // namespace fly::test

#endif // FLY_UNITTESTS_ALGEBRA_OPERATION_H
