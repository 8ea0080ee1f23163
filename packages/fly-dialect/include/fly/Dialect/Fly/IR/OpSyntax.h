// SPDX-License-Identifier: Apache-2.0
//
// The `custom<...>` directives of the ops' assembly formats.

#ifndef FLY_DIALECT_FLY_IR_OPSYNTAX_H
#define FLY_DIALECT_FLY_IR_OPSYNTAX_H

#include "fly/Dialect/Fly/IR/FlyAttributes.h"

#include "mlir/IR/OpImplementation.h"

namespace fly {

/// A group of operands: `%a`, or `[%a, %b]` when there are several. `[%a]` is accepted.
mlir::ParseResult
parseOperandGroup(mlir::OpAsmParser &parser,
                  llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &group);
void printOperandGroup(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange group);

/// An optional operand with its name: `name = %a`. `[name = %a]` is accepted.
mlir::ParseResult parseNamedOperand(mlir::OpAsmParser &parser, llvm::StringRef name,
                                    std::optional<mlir::OpAsmParser::UnresolvedOperand> &operand);
void printNamedOperand(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::StringRef name,
                       mlir::Value operand);

/// The operand of a matrix instruction by its bare name: `a`. `#fly<mma_operand a>` is accepted.
mlir::ParseResult parseOperandKeyword(mlir::OpAsmParser &parser, MmaOperandAttr &operand);
void printOperandKeyword(mlir::OpAsmPrinter &printer, mlir::Operation *op, MmaOperandAttr operand);

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_OPSYNTAX_H
