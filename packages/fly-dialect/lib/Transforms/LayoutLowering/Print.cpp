// SPDX-License-Identifier: Apache-2.0
//
// fly.print becomes one gpu.printf in a kernel, and a sequence of vector.print elsewhere.

#include "LayoutLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <variant>

using namespace mlir;

namespace fly {

namespace {

/// A vector with more elements than this is not printed element by element.
constexpr int64_t kMaxPrintedElements = 1024;

/// Text and scalars, in the order in which they are printed. Scalars are i32, i64, f32 or f64.
class PrintedText {
public:
  void literal(const Twine &text) {
    if (!pieces.empty() && std::holds_alternative<std::string>(pieces.back()))
      std::get<std::string>(pieces.back()) += text.str();
    else
      pieces.emplace_back(text.str());
  }
  void scalar(Value value) { pieces.emplace_back(value); }

  /// Takes over `attributes`, which say what the message is for.
  void emitPrintf(OpBuilder &builder, Location loc, DictionaryAttr attributes) const {
    std::string format;
    SmallVector<Value> arguments;
    for (const Piece &piece : pieces) {
      if (const auto *text = std::get_if<std::string>(&piece)) {
        for (char c : *text)
          format += c == '%' ? "%%" : std::string(1, c);
        continue;
      }
      Value value = std::get<Value>(piece);
      format += isa<FloatType>(value.getType()) ? "%.2f"
                : value.getType().isInteger(64) ? "%ld"
                                                : "%d";
      arguments.push_back(value);
    }
    auto printf = gpu::PrintfOp::create(builder, loc, format, arguments);
    printf->setDiscardableAttrs(attributes);
  }

  /// Takes over `attributes` as well, on each operation.
  void emitVectorPrints(OpBuilder &builder, Location loc, DictionaryAttr attributes) const {
    auto print = [&](auto... operands) {
      vector::PrintOp::create(builder, loc, operands...)->setDiscardableAttrs(attributes);
    };
    for (const Piece &piece : pieces) {
      if (const auto *text = std::get_if<std::string>(&piece)) {
        const bool endsLine = &piece == &pieces.back() && StringRef(*text).ends_with("\n");
        StringRef line = StringRef(*text).drop_back(endsLine);
        if (!line.empty())
          print(line);
        if (endsLine)
          print(vector::PrintPunctuation::NewLine);
      } else
        print(std::get<Value>(piece), vector::PrintPunctuation::NoPunctuation);
    }
  }

private:
  using Piece = std::variant<std::string, Value>;
  SmallVector<Piece> pieces;
};

class Printer {
public:
  Printer(LoweringState &state, PrintOp op) : state(state), op(op) {}

  Lowered run() {
    SmallVector<Value> values(op.getValues());
    StringRef format = op.getFormat();
    if (format.empty()) {
      for (const auto &[index, value] : llvm::enumerate(values)) {
        if (index != 0)
          text.literal(" ");
        if (!render(value))
          return outcome;
      }
    }
    size_t next = 0;
    while (!format.empty()) {
      const auto [before, behind] = format.split("{}");
      text.literal(before);
      const bool hasPlaceholder = before.size() != format.size();
      if (hasPlaceholder && next != values.size()) {
        if (!render(values[next]))
          return outcome;
        ++next;
      }
      format = behind;
    }
    text.literal("\n");
    if (op->getParentOfType<gpu::GPUFuncOp>())
      text.emitPrintf(state.builder, op.getLoc(), op->getDiscardableAttrDictionary());
    else
      text.emitVectorPrints(state.builder, op.getLoc(), op->getDiscardableAttrDictionary());
    return Lowered::Done;
  }

private:
  bool render(Value value) {
    if (isa<IntegerType, IndexType, FloatType>(value.getType())) {
      renderScalar(value);
      return true;
    }
    if (auto type = dyn_cast<VectorType>(value.getType()))
      return renderVector(value, type);
    const std::optional<FlyValue> known = state.read(value);
    if (!known)
      return !getFlyValue(value.getType()) ? unsupported(value) : left();
    if (const auto *tuple = std::get_if<IntTuple>(&*known))
      renderTuple(*tuple);
    else if (const auto *layout = std::get_if<AnyLayout>(&*known))
      renderLayout(*layout);
    else if (const auto *inner = std::get_if<InnerMap>(&*known))
      text.literal(inner->str());
    else if (const auto *tile = std::get_if<Tile>(&*known))
      text.literal(tile->str());
    else
      return unsupported(value);
    return true;
  }

  bool unsupported(Value value) {
    op.emitOpError("can't print a value of type ") << value.getType();
    outcome = Lowered::Failed;
    return false;
  }

  bool left() {
    outcome = Lowered::Left;
    return false;
  }

  void renderScalar(Value value) {
    OpBuilder &builder = state.builder;
    const Location loc = op.getLoc();
    const Type type = value.getType();
    if (isa<IndexType>(type))
      value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    else if (type.isInteger(1))
      value = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
    else if (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32)
      value = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), value);
    else if (isa<IntegerType>(type) && !type.isInteger(32) && type.getIntOrFloatBitWidth() < 64)
      value = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value);
    else if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
      value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
    text.scalar(value);
  }

  bool renderVector(Value value, VectorType type) {
    if (type.getRank() != 1 || type.isScalable() || type.getNumElements() > kMaxPrintedElements)
      return unsupported(value);
    text.literal("[");
    for (int64_t i = 0; i != type.getNumElements(); ++i) {
      if (i != 0)
        text.literal(", ");
      renderScalar(vector::ExtractOp::create(state.builder, op.getLoc(), value, i));
    }
    text.literal("]");
    return true;
  }

  void renderTuple(const IntTuple &tuple) {
    if (tuple.isStatic()) {
      text.literal(tuple.str());
      return;
    }
    if (tuple.isLeaf()) {
      text.scalar(toValue(tuple.handle()));
      for (unsigned level = 0; level != tuple.path().size(); ++level)
        text.literal("E" + Twine(tuple.path()[level]));
      return;
    }
    text.literal("(");
    for (const auto &[index, mode] : llvm::enumerate(tuple.modes())) {
      if (index != 0)
        text.literal(",");
      renderTuple(mode);
    }
    text.literal(")");
  }

  void renderLayout(const AnyLayout &layout) {
    if (!layout.isComposed()) {
      renderTuple(layout.plain().shape());
      text.literal(":");
      renderTuple(layout.plain().stride());
      return;
    }
    const ComposedLayout &composed = layout.composed();
    if (const Layout *inner = composed.inner().layout())
      renderLayout(*inner);
    else if (const ComposedLayout *inner = composed.inner().composed())
      renderLayout(*inner);
    else
      text.literal(composed.inner().str());
    text.literal(" o ");
    renderTuple(composed.offset());
    text.literal(composed.outer().isComposed() ? " o [" : " o ");
    renderLayout(composed.outer());
    if (composed.outer().isComposed())
      text.literal("]");
  }

  LoweringState &state;
  PrintOp op;
  PrintedText text;
  Lowered outcome = Lowered::Done;
};

} // namespace

Lowered lowerPrint(LoweringState &state, Operation *op) {
  auto print = dyn_cast<PrintOp>(op);
  return print ? Printer(state, print).run() : Lowered::NotMine;
}

} // namespace fly
