// SPDX-License-Identifier: Apache-2.0
//
// Pieces of the text of the back ends' atoms: `key = value` lists and extents.

#ifndef FLY_LIB_DIALECT_ATOMSYNTAX_H
#define FLY_LIB_DIALECT_ATOMSYNTAX_H

#include "mlir/IR/DialectImplementation.h"

namespace fly {

/// `key = 3`
inline mlir::ParseResult parseKey(mlir::AsmParser &parser, llvm::StringRef key, int32_t &value) {
  return mlir::failure(parser.parseKeyword(key) || parser.parseEqual() ||
                       parser.parseInteger(value));
}

/// `key = true`
inline mlir::ParseResult parseKey(mlir::AsmParser &parser, llvm::StringRef key, bool &value) {
  llvm::StringRef word;
  llvm::SMLoc loc;
  if (parser.parseKeyword(key) || parser.parseEqual() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&word))
    return mlir::failure();
  if (word != "true" && word != "false")
    return parser.emitError(loc, "expected true or false");
  value = word == "true";
  return mlir::success();
}

/// `, key = value`
template <typename T>
mlir::ParseResult parseNextKey(mlir::AsmParser &parser, llvm::StringRef key, T &value) {
  return mlir::failure(parser.parseComma() || parseKey(parser, key, value));
}

inline void printKey(mlir::AsmPrinter &printer, llvm::StringRef key, int32_t value) {
  printer << ", " << key << " = " << value;
}
inline void printKey(mlir::AsmPrinter &printer, llvm::StringRef key, bool value) {
  printer << ", " << key << " = " << (value ? "true" : "false");
}

} // namespace fly

#endif // FLY_LIB_DIALECT_ATOMSYNTAX_H
