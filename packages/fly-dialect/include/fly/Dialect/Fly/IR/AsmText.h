// SPDX-License-Identifier: Apache-2.0
//
// Reads the algebra's text grammar in the middle of MLIR text.

#ifndef FLY_DIALECT_FLY_IR_ASMTEXT_H
#define FLY_DIALECT_FLY_IR_ASMTEXT_H

#include "fly/Algebra/Text.h"

#include "mlir/IR/OpImplementation.h"

namespace fly {

/// Moves `parser` behind the tokens that end at `end`. Fails, with an error, where `end` lies
/// inside a token.
mlir::ParseResult skipTokens(mlir::AsmParser &parser, const char *end);

/// Parses one value of the algebra at the current token. MLIR's lexer and the algebra's parser read
/// the same buffer; the algebra's goes first, then MLIR's tokens are consumed up to the same place.
template <typename T>
mlir::FailureOr<T> parseText(mlir::AsmParser &parser, mlir::FailureOr<T> (*parse)(TextCursor &)) {
  TextCursor cursor(parser.getCurrentLocation().getPointer());
  mlir::FailureOr<T> value = parse(cursor);
  if (failed(value)) {
    parser.emitError(llvm::SMLoc::getFromPointer(cursor.errorPosition()), cursor.message());
    return mlir::failure();
  }
  if (skipTokens(parser, cursor.position()))
    return mlir::failure();
  return value;
}

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_ASMTEXT_H
