// SPDX-License-Identifier: Apache-2.0

#include "Operation.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Divide.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/Product.h"
#include "fly/Algebra/Recast.h"
#include "fly/Algebra/Slice.h"
#include "fly/Algebra/Text.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fly;
using namespace fly::test;

namespace {

std::optional<llvm::StringRef> findAttribute(llvm::StringRef attributes, llvm::StringRef name) {
  const size_t at = (" " + attributes).str().find((" " + name + "=").str());
  if (at == std::string::npos)
    return std::nullopt;
  llvm::StringRef value = attributes.drop_front(at + name.size() + 1);
  return value.starts_with("[") ? value.take_until([](char c) { return c == ']'; })
                                : value.take_until([](char c) { return c == ' '; });
}

std::optional<Value> parseOperand(llvm::StringRef text) {
  std::string error;
  auto tryParse = [&](auto parse) -> std::optional<Value> {
    auto value = parseWhole(text, parse, error);
    if (llvm::failed(value))
      return std::nullopt;
    return Value(*value);
  };
  if (text.consume_front("tile ") || text.starts_with("["))
    return tryParse(parseTile);
  if (auto tuple = tryParse(parseIntTuple))
    return tuple;
  if (auto layout = tryParse(parseAnyLayout))
    return layout;
  if (auto swizzle = parseWhole(text, parseSwizzle, error); llvm::succeeded(swizzle))
    return Value(InnerMap(*swizzle));
  if (auto swizzle = parseWhole(text, parseCoordSwizzle, error); llvm::succeeded(swizzle))
    return Value(InnerMap(*swizzle));
  return std::nullopt;
}

/// Operations on the operands of one evaluation, each giving nothing where the kinds don't fit.
class Evaluator {
public:
  Evaluator(AlgebraContext &cx, const Operation &operation, llvm::ArrayRef<Value> operands)
      : cx(cx), operation(operation), operands(operands) {}

  std::optional<Value> run() {
    for (auto family :
         {&Evaluator::tupleOperation, &Evaluator::modeOperation, &Evaluator::coordinateOperation,
          &Evaluator::layoutOperation, &Evaluator::constructor})
      if (std::optional<Value> result = (this->*family)())
        return result;
    return std::nullopt;
  }

private:
  const IntTuple *tuple(unsigned i) const {
    return i < operands.size() ? std::get_if<IntTuple>(&operands[i]) : nullptr;
  }
  const AnyLayout *layout(unsigned i) const {
    return i < operands.size() ? std::get_if<AnyLayout>(&operands[i]) : nullptr;
  }
  const Layout *plain(unsigned i) const {
    const AnyLayout *any = layout(i);
    return any && !any->isComposed() ? &any->plain() : nullptr;
  }
  bool is(llvm::StringRef name) const { return operation.name == name; }

  static Value value(Layout layout) { return AnyLayout(std::move(layout)); }
  template <typename T> static Value value(T result) { return Value(std::move(result)); }

  std::optional<Value> tupleOperation() {
    if (!tuple(0))
      return std::nullopt;
    if (is("int_tuple_product"))
      return value(tupleProduct(cx, *tuple(0)));
    if (is("int_tuple_product_each"))
      return value(tupleProductEach(cx, *tuple(0)));
    if (!tuple(1))
      return std::nullopt;
    using Binary = IntTuple (*)(AlgebraContext &, const IntTuple &, const IntTuple &);
    const Binary binary = llvm::StringSwitch<Binary>(operation.name)
                              .Case("int_tuple_add", tupleAdd)
                              .Case("int_tuple_sub", tupleSub)
                              .Case("int_tuple_mul", tupleMul)
                              .Case("int_tuple_div", tupleDiv)
                              .Case("int_tuple_mod", tupleMod)
                              .Case("int_tuple_product_like", tupleProductLike)
                              .Case("ceil_div", tupleCeilDiv)
                              .Case("shape_div", tupleShapeDiv)
                              .Case("add_offset", tupleAdd)
                              .Default(nullptr);
    if (binary)
      return value(binary(cx, *tuple(0), *tuple(1)));
    if (is("elem_less"))
      return value(elemLess(cx, *tuple(0), *tuple(1)));
    if (is("equal"))
      return value(tupleEqual(cx, *tuple(0), *tuple(1)));
    return std::nullopt;
  }

  /// `fn` on a tuple, or on the outermost plain layout.
  template <typename Fn> Value onTupleOrLayout(const Fn &fn) {
    if (tuple(0))
      return value(fn(*tuple(0)));
    return value(mapOutermost(*layout(0), [&](const Layout &plain) { return fn(plain); }));
  }

  std::optional<Value> modeOperation() {
    if (!tuple(0) && !layout(0))
      return std::nullopt;
    const int32_t begin = operation.integer("begin", 0), end = operation.integer("end", -1);
    if (is("get"))
      return onTupleOrLayout(
          [&](const auto &x) { return getMode(cx, x, *operation.integers("mode")); });
    if (is("take"))
      return onTupleOrLayout([&](const auto &x) { return takeModes(cx, x, begin, end); });
    if (is("group"))
      return onTupleOrLayout([&](const auto &x) { return groupModes(cx, x, begin, end); });
    if (is("select"))
      return onTupleOrLayout(
          [&](const auto &x) { return selectModes(cx, x, *operation.integers("indices")); });
    if (is("append") || is("prepend"))
      return extend(operation.integer("n", -1));
    if (!tuple(1))
      return std::nullopt;
    if (is("slice"))
      return tuple(0) ? value(slice(cx, *tuple(0), *tuple(1)))
                      : value(sliceWithOffset(cx, *layout(0), *tuple(1)).layout);
    if (is("dice"))
      return onTupleOrLayout([&](const auto &x) { return dice(cx, x, *tuple(1)); });
    return std::nullopt;
  }

  std::optional<Value> extend(int32_t rank) {
    const bool back = is("append");
    if (tuple(0) && tuple(1))
      return value(back ? appendMode(cx, *tuple(0), *tuple(1), rank)
                        : prependMode(cx, *tuple(0), *tuple(1), rank));
    if (!layout(0) || !plain(1))
      return std::nullopt;
    return onOutermost([&](const Layout &x) {
      return back ? appendMode(cx, x, *plain(1), rank) : prependMode(cx, x, *plain(1), rank);
    });
  }

  std::optional<Value> coordinateOperation() {
    if (is("size") && tuple(0))
      return value(tupleProduct(cx, *tuple(0)));
    if (layout(0)) {
      const Layout &outermost = layout(0)->outermost();
      using Unary = IntTuple (*)(AlgebraContext &, const Layout &);
      const Unary unary = llvm::StringSwitch<Unary>(operation.name)
                              .Case("size", layoutSize)
                              .Case("coprofile", coprofile)
                              .Case("coshape", coshape)
                              .Case("cosize", cosize)
                              .Default(nullptr);
      return unary ? std::optional(value(unary(cx, outermost))) : std::nullopt;
    }
    if (!tuple(0) || operands.size() != 2)
      return std::nullopt;
    if (is("crd2idx")) {
      if (layout(1))
        return value(crd2idx(cx, *tuple(0), *layout(1)));
      return value(applyMap(cx, *tuple(0), std::get<InnerMap>(operands[1])));
    }
    if (!plain(1))
      return std::nullopt;
    if (is("idx2crd"))
      return value(idx2crd(cx, *tuple(0), *plain(1)));
    if (is("get_flat_coord"))
      return value(flatCoord(cx, *tuple(0), *plain(1)));
    if (is("get_1d_coord"))
      return value(linearCoord(cx, *tuple(0), *plain(1)));
    return std::nullopt;
  }

  template <typename Fn> Value onOutermost(const Fn &fn) {
    return value(mapOutermost(*layout(0), fn));
  }

  std::optional<Value> layoutOperation() {
    if (!layout(0))
      return std::nullopt;
    if (is("right_inverse"))
      return onOutermost([&](const Layout &x) { return rightInverse(cx, x); });
    if (is("left_inverse"))
      return onOutermost([&](const Layout &x) { return leftInverse(cx, x); });
    if (is("coalesce"))
      return onOutermost(
          [&](const Layout &x) { return tuple(1) ? coalesce(cx, x, *tuple(1)) : coalesce(cx, x); });
    if (is("complement"))
      return onOutermost([&](const Layout &x) {
        return tuple(1) ? complement(cx, x, *tuple(1)) : complement(cx, x);
      });
    if (is("recast_layout"))
      return value(recast(cx, *layout(0), operation.integer("new_type_bits", 0),
                          operation.integer("old_type_bits", 0)));
    if (is("tile_to_shape"))
      return onOutermost([&](const Layout &x) { return tileToShape(cx, x, *tuple(1), *tuple(2)); });
    if (operands.size() != 2)
      return std::nullopt;
    const Tile *tile = std::get_if<Tile>(&operands[1]);
    if (!tile && !plain(1))
      return std::nullopt;
    if (is("composition"))
      return onOutermost([&](const Layout &x) {
        return tile ? composition(cx, x, *tile) : composition(cx, x, *plain(1));
      });
    using Divide = Layout (*)(AlgebraContext &, const Layout &, const Divisor &);
    if (const Divide divide = llvm::StringSwitch<Divide>(operation.name)
                                  .Case("logical_divide", logicalDivide)
                                  .Case("zipped_divide", zippedDivide)
                                  .Case("tiled_divide", tiledDivide)
                                  .Case("flat_divide", flatDivide)
                                  .Default(nullptr))
      return onOutermost([&](const Layout &x) {
        return divide(cx, x, tile ? Divisor(*tile) : Divisor(*plain(1)));
      });
    using Product = Layout (*)(AlgebraContext &, const Layout &, const Layout &);
    if (const Product product = llvm::StringSwitch<Product>(operation.name)
                                    .Cases({"logical_product", "zipped_product"}, logicalProduct)
                                    .Case("tiled_product", tiledProduct)
                                    .Case("flat_product", flatProduct)
                                    .Case("blocked_product", blockedProduct)
                                    .Case("raked_product", rakedProduct)
                                    .Default(nullptr))
      return onOutermost([&](const Layout &x) { return product(cx, x, *plain(1)); });
    return std::nullopt;
  }

  std::optional<Value> constructor() {
    if (is("make_identity_layout") && tuple(0))
      return value(identityLayout(cx, *tuple(0)));
    if (is("make_ordered_layout") && tuple(0) && tuple(1))
      return value(orderedLayout(cx, *tuple(0), *tuple(1)));
    if (is("make_layout_like") && plain(0))
      return value(layoutLike(cx, *plain(0)));
    // The op, not the algebra, asks for a static shape.
    if (is("make_fragment_layout_like") && plain(0) && plain(0)->shape().isStatic())
      return value(fragmentLayout(cx, *plain(0)));
    if (is("make_layout") && tuple(0) && tuple(1))
      return value(Layout(*tuple(0), *tuple(1)));
    return std::nullopt;
  }

  AlgebraContext &cx;
  const Operation &operation;
  llvm::ArrayRef<Value> operands;
};

} // namespace

std::optional<llvm::SmallVector<int32_t, 4>> Operation::integers(llvm::StringRef attribute) const {
  std::optional<llvm::StringRef> value = findAttribute(attributes, attribute);
  if (!value)
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  value->ltrim('[').split(parts, ',', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<int32_t, 4> result;
  for (llvm::StringRef part : parts)
    part.trim().getAsInteger(10, result.emplace_back());
  return result;
}

int32_t Operation::integer(llvm::StringRef attribute, int32_t otherwise) const {
  const auto values = integers(attribute);
  return values && values->size() == 1 ? values->front() : otherwise;
}

Operation fly::test::parseOperation(llvm::StringRef name, llvm::StringRef text) {
  Operation operation{name, {}, {}};
  if (const size_t brace = text.find(" {"); brace != llvm::StringRef::npos && text.ends_with("}")) {
    operation.attributes = text.substr(brace + 2).drop_back();
    text = text.take_front(brace);
  }
  text.split(operation.operands, " ; ");
  return operation;
}

std::optional<llvm::SmallVector<Value, 3>> fly::test::parseOperands(const Operation &operation) {
  llvm::SmallVector<Value, 3> operands;
  for (llvm::StringRef text : operation.operands) {
    std::optional<Value> operand = parseOperand(text);
    if (!operand)
      return std::nullopt;
    operands.push_back(std::move(*operand));
  }
  return operands;
}

std::optional<Value> fly::test::evaluate(AlgebraContext &cx, const Operation &operation,
                                         llvm::ArrayRef<Value> operands) {
  return Evaluator(cx, operation, operands).run();
}

std::string fly::test::toText(const Value &value) {
  if (const auto *truth = std::get_if<Truth>(&value))
    return !truth->known ? "dynamic" : *truth->known ? "true" : "false";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    os << *tuple;
  else if (const auto *layout = std::get_if<AnyLayout>(&value))
    os << *layout;
  else if (const auto *tile = std::get_if<Tile>(&value))
    os << *tile;
  else
    os << std::get<InnerMap>(value);
  return text;
}
