// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/OpSyntax.h"

using namespace mlir;

ParseResult fly::parseOperandGroup(OpAsmParser &parser,
                                   SmallVectorImpl<OpAsmParser::UnresolvedOperand> &group) {
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseOperandList(group) || parser.parseRSquare())
      return failure();
    return success();
  }
  return parser.parseOperand(group.emplace_back());
}

void fly::printOperandGroup(OpAsmPrinter &printer, Operation *, OperandRange group) {
  if (group.size() == 1) {
    printer << group.front();
    return;
  }
  printer << '[' << group << ']';
}

ParseResult fly::parseNamedOperand(OpAsmParser &parser, StringRef name,
                                   std::optional<OpAsmParser::UnresolvedOperand> &operand) {
  bool bracketed = succeeded(parser.parseOptionalLSquare());
  if (failed(parser.parseOptionalKeyword(name)))
    return bracketed ? parser.emitError(parser.getCurrentLocation(), "expected '") << name << "'"
                     : ParseResult(success());
  operand.emplace();
  if (parser.parseEqual() || parser.parseOperand(*operand))
    return failure();
  return bracketed ? parser.parseRSquare() : ParseResult(success());
}

void fly::printNamedOperand(OpAsmPrinter &printer, Operation *, StringRef name, Value operand) {
  if (operand)
    printer << name << " = " << operand;
}

ParseResult fly::parseOperandKeyword(OpAsmParser &parser, MmaOperandAttr &operand) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parser.parseAttribute(operand);
  std::optional<MmaOperand> known = symbolizeMmaOperand(keyword);
  if (!known)
    return parser.emitError(loc, "expected operand to be one of: a, b, c, d");
  operand = MmaOperandAttr::get(parser.getContext(), *known);
  return success();
}

void fly::printOperandKeyword(OpAsmPrinter &printer, Operation *, MmaOperandAttr operand) {
  printer << stringifyMmaOperand(operand.getValue());
}
