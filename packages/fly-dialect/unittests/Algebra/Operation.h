// SPDX-License-Identifier: Apache-2.0
//
// The operations of the algebra by the names that they have in the dialect, on operands in text
// form.

#ifndef FLY_UNITTESTS_ALGEBRA_OPERATION_H
#define FLY_UNITTESTS_ALGEBRA_OPERATION_H

#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Tile.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <variant>

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

/// An operand or a result.
using Value = std::variant<IntTuple, AnyLayout, Tile, InnerMap, Truth>;

/// The text of an operation and its operands: `operand ; operand {name=value ...}`.
Operation parseOperation(llvm::StringRef name, llvm::StringRef text);

/// The operands as values; nothing where one is of a kind that the algebra does not have.
std::optional<llvm::SmallVector<Value, 3>> parseOperands(const Operation &operation);

/// The result on these operands, meaningless when the context has failed. Nothing when there is no
/// such operation on operands of these kinds.
std::optional<Value> evaluate(AlgebraContext &cx, const Operation &operation,
                              llvm::ArrayRef<Value> operands);

/// In the tables' form; truth values are `true`, `false` or `dynamic`.
std::string toText(const Value &value);

} // namespace fly::test

#endif // FLY_UNITTESTS_ALGEBRA_OPERATION_H
