// SPDX-License-Identifier: Apache-2.0
#include "MessageTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fly {

/// What the front end puts before the placeholder of an unsigned integer, whose type does not say
/// it.
static constexpr char unsignedMark = '\x01';

int32_t MessageTable::add(StringRef kind, StringRef format, ValueRange values,
                          std::optional<Location> where) {
  const auto types = llvm::map_to_vector(
      values, [](Value value) -> Attribute { return TypeAttr::get(value.getType()); });
  SmallVector<NamedAttribute> entry = {
      builder.getNamedAttr("format", builder.getStringAttr(format)),
      builder.getNamedAttr("kind", builder.getStringAttr(kind)),
      builder.getNamedAttr("types", builder.getArrayAttr(types))};
  if (where)
    entry.push_back(builder.getNamedAttr("where", LocationAttr(*where)));
  entries.push_back(builder.getDictionaryAttr(entry));
  return static_cast<int32_t>(entries.size());
}

LogicalResult checkRecordable(Operation *op, ValueRange values) {
  for (Type type : values.getTypes())
    if (!type.isInteger(32) && !type.isInteger(64) && !type.isF32() && !type.isF64())
      return op->emitOpError("cannot print a value of type ")
             << type << "; a message has values of i32, i64, f32 and f64";
  return success();
}

static int32_t wordsOf(Value value) { return value.getType().getIntOrFloatBitWidth() / 32; }

int32_t recordWords(ValueRange values) {
  int32_t words = 0;
  for (Value value : values)
    words += wordsOf(value);
  return words;
}

void storeRecord(ImplicitLocOpBuilder &builder, Value record, ValueRange values) {
  int32_t word = 0;
  for (Value value : values) {
    Value field = LLVM::GEPOp::create(builder, record.getType(), builder.getI8Type(), record,
                                      LLVM::GEPArg(4 * word));
    LLVM::StoreOp::create(builder, value, field, /*alignment=*/4);
    word += wordsOf(value);
  }
}

std::string withUnsignedConversions(StringRef format) {
  std::string result;
  while (!format.empty()) {
    const auto [before, behind] = format.split(unsignedMark);
    result += before;
    const bool marked = before.size() != format.size();
    format = behind;
    if (!marked)
      break;
    // `%d`, `%ld` and the like, up to the letter of the conversion.
    const StringRef length =
        format.starts_with("%")
            ? format.drop_front().take_while([](char c) { return llvm::isLower(c) && c != 'd'; })
            : StringRef();
    if (format.starts_with("%") && format.drop_front(1 + length.size()).starts_with("d")) {
      result += ("%" + length + "u").str();
      format = format.drop_front(length.size() + 2);
    } else {
      result += unsignedMark;
    }
  }
  return result;
}

} // namespace fly
