// SPDX-License-Identifier: Apache-2.0
//
// What host functions print and assert: calls of the runtime with a record of values on the stack.
//
// Layout lowering makes a sequence of vector.print of each message, up to the end of its line; such
// a sequence is one call here. For a failed assertion the call returns a status, at which the
// emission of the artifact ends the host function.

#include "MessageTable.h"

#include "fly/Emit/Offloading.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace fly {

using Builder = ImplicitLocOpBuilder;

static bool endsLine(vector::PrintOp op) {
  return !op.getStringLiteral() && op.getPunctuation() == vector::PrintPunctuation::NewLine;
}

/// Declares what is called; the emission of the artifact defines the table.
static void declareRuntime(func::FuncOp function) {
  Operation *module = function->getParentOp();
  if (SymbolTable::lookupSymbolIn(module, printSymbol))
    return;
  Builder builder(UnknownLoc::get(function.getContext()), function);
  const auto pointer = LLVM::LLVMPointerType::get(function.getContext());
  const Type word = builder.getI32Type();
  LLVM::LLVMFuncOp::create(builder, printSymbol,
                           LLVM::LLVMFunctionType::get(word, {pointer, word, pointer}));
  // The table is declared already where tensor maps are made.
  if (SymbolTable::lookupSymbolIn(module, artifactSymbol))
    return;
  LLVM::GlobalOp::create(builder, LLVM::LLVMStructType::getLiteral(function.getContext(), {}),
                         /*isConstant=*/false, LLVM::Linkage::External, artifactSymbol,
                         Attribute());
}

static StringRef conversionOf(Type type) {
  return isa<FloatType>(type) ? StringRef(shortestFloat) : type.isInteger(64) ? "%ld" : "%d";
}

/// Makes one call of the sequence of prints that is one message.
static LogicalResult lowerLine(ArrayRef<vector::PrintOp> line, Block &entry,
                               MessageTable &messages) {
  std::string text;
  SmallVector<Value> values;
  for (vector::PrintOp op : line) {
    if (std::optional<StringRef> literal = op.getStringLiteral()) {
      for (char c : *literal)
        text += c == '%' ? "%%" : std::string(1, c);
    } else if (Value value = op.getSource()) {
      if (failed(checkRecordable(op, value)))
        return failure();
      values.push_back(value);
      text += conversionOf(value.getType());
    }
    if (endsLine(op))
      text += "\n";
  }
  text = withUnsignedConversions(text);
  const bool failedAssertion = line.front()->hasAttr(assertionAttribute);
  if (failedAssertion && StringRef(text).ends_with("\n"))
    text.pop_back();
  const int32_t number = messages.add(failedAssertion ? "host_assert" : "host", text, values);

  Builder builder(line.front()->getLoc(), line.front()->getContext());
  const Type word = builder.getI32Type();
  const auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto constant = [&](int32_t value) -> Value {
    return LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
  };
  builder.setInsertionPointToStart(&entry); // A print in a loop must not grow the stack.
  Value size = constant(std::max(1, recordWords(values)));
  Value record = LLVM::AllocaOp::create(builder, pointer, word, size);
  builder.setInsertionPoint(line.back());
  storeRecord(builder, record, values);
  Value artifact = LLVM::AddressOfOp::create(builder, pointer, artifactSymbol);
  LLVM::CallOp::create(builder, TypeRange(word), printSymbol,
                       ValueRange({artifact, constant(number), record}));
  for (vector::PrintOp op : line)
    op.erase();
  return success();
}

LogicalResult lowerHostMessages(func::FuncOp function, MessageTable &messages) {
  llvm::SetVector<Block *> blocks;
  function.walk<WalkOrder::PreOrder>([&](vector::PrintOp op) { blocks.insert(op->getBlock()); });
  if (blocks.empty())
    return success();
  declareRuntime(function);
  for (Block *block : blocks) {
    const auto prints = llvm::to_vector(block->getOps<vector::PrintOp>());
    for (ArrayRef<vector::PrintOp> rest = prints; !rest.empty();) {
      const auto *end = llvm::find_if(rest, endsLine);
      const ArrayRef<vector::PrintOp> line =
          end == rest.end() ? rest : rest.take_front(end - rest.begin() + 1);
      rest = rest.drop_front(line.size());
      if (failed(lowerLine(line, function.front(), messages)))
        return failure();
    }
  }
  return success();
}

} // namespace fly
