// SPDX-License-Identifier: Apache-2.0
//
// Whatever is known only at run time, the result is the same: leaves of the static rows of the
// tables are made dynamic, the arithmetic that the algebra emits for them is executed, and the
// result is compared with the static one, layouts by the indices that they give.

#include "Tables.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <random>

using namespace fly;
using namespace fly::test;

namespace {

/// Executes what is emitted. Handles point to values.
class Interpreter : public RuntimeArith {
public:
  static int64_t valueOf(RuntimeHandle handle) { return *static_cast<int64_t *>(handle); }
  RuntimeHandle handle(int64_t value) {
    values.push_back(value);
    return &values.back();
  }

  RuntimeHandle constant(int64_t value, unsigned) override { return handle(value); }
  RuntimeHandle extend(RuntimeHandle value) override { return value; }
  RuntimeHandle binary(Op op, RuntimeHandle a, RuntimeHandle b) override {
    return handle(compute(op, valueOf(a), valueOf(b)));
  }
  RuntimeHandle compare(Predicate predicate, RuntimeHandle a, RuntimeHandle b) override {
    return handle(predicate == Predicate::Equal ? valueOf(a) == valueOf(b)
                                                : valueOf(a) < valueOf(b));
  }
  RuntimeHandle both(RuntimeHandle a, RuntimeHandle b) override {
    return handle(valueOf(a) & valueOf(b));
  }

  /// Whether something was divided by zero.
  bool trapped = false;

private:
  int64_t compute(Op op, int64_t a, int64_t b) {
    const bool divides = op == Op::Div || op == Op::Rem || op == Op::CeilDiv;
    if (divides && b == 0) {
      trapped = true;
      return 0;
    }
    switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Rem:
      return a % b;
    case Op::CeilDiv:
      return a / b + (a % b != 0 && (a < 0) == (b < 0));
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::And:
      return a & b;
    case Op::Xor:
      return a ^ b;
    case Op::ShiftLeft:
      return a << b;
    case Op::ShiftRight:
      break;
    }
    return static_cast<int64_t>(static_cast<uint32_t>(a) >> b);
  }

  std::deque<int64_t> values;
};

/// Makes leaves dynamic, and results static again.
class Rewriter {
public:
  Rewriter(Interpreter &interpreter, std::mt19937 &random)
      : interpreter(interpreter), random(random) {}

  Value makeDynamic(const Value &value) {
    if (const auto *tuple = std::get_if<IntTuple>(&value))
      return makeDynamic(*tuple);
    if (const auto *layout = std::get_if<AnyLayout>(&value))
      return mapOutermost(*layout, [&](const Layout &plain) {
        return Layout(makeDynamic(plain.shape()), makeDynamic(plain.stride()));
      });
    return value;
  }

  static IntTuple concrete(const IntTuple &tuple) {
    AlgebraContext cx;
    return mapLeaves(cx, tuple, [](const IntTuple &leaf) {
      if (!leaf.isDynamicLeaf())
        return leaf;
      const auto value = static_cast<int32_t>(Interpreter::valueOf(leaf.handle()));
      return IntTuple(value).withPath(leaf.path());
    });
  }
  static AnyLayout concrete(const AnyLayout &layout) {
    if (!layout.isComposed())
      return Layout(concrete(layout.plain().shape()), concrete(layout.plain().stride()));
    const ComposedLayout &composed = layout.composed();
    return ComposedLayout(composed.inner(), concrete(composed.offset()),
                          concrete(composed.outer()));
  }

private:
  IntTuple makeDynamic(const IntTuple &tuple) {
    AlgebraContext cx;
    return mapLeaves(cx, tuple, [&](const IntTuple &leaf) {
      if (leaf.kind() != IntTuple::Kind::Static || random() % 3 != 0)
        return leaf;
      const unsigned width = random() % 4 == 0 ? 64 : 32;
      return IntTuple::dynamic(width, 1, interpreter.handle(leaf.staticValue()))
          .withPath(leaf.path());
    });
  }

  Interpreter &interpreter;
  std::mt19937 &random;
};

/// Indices of the first coordinates, in text form.
std::string indices(const AnyLayout &layout) {
  AlgebraContext cx;
  const IntTuple size = layoutSize(cx, layout.outermost());
  std::string text = "size " + size.str() + ":";
  for (int32_t i = 0; i < std::min(size.staticValue(), 300) && !cx.failed(); ++i)
    text += " " + expandBasis(cx, crd2idx(cx, i, layout)).str();
  return cx.failed() ? cx.message() : text;
}

/// A basis element and the tuple that it stands for are the same coordinate.
IntTuple expanded(const IntTuple &tuple) {
  AlgebraContext cx;
  return expandBasis(cx, tuple);
}

/// What must be equal.
std::string meaning(const Value &value) {
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    return expanded(Rewriter::concrete(*tuple)).str();
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return indices(Rewriter::concrete(*layout));
  const auto &truth = std::get<Truth>(value);
  return (truth.known ? *truth.known : Interpreter::valueOf(truth.handle) != 0) ? "true" : "false";
}

bool isStatic(const Value &value) {
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    return tuple->isStatic();
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return layout->isStatic();
  return true;
}

/// By definition, dynamic strides are left out of inverses and never contiguous in a recast, and
/// dynamic orders go by position.
bool dependsOnStaticness(llvm::StringRef operation) {
  static const llvm::StringSet<> names = {"right_inverse",
                                          "left_inverse",
                                          "make_layout_like",
                                          "make_ordered_layout",
                                          "make_fragment_layout_like",
                                          "recast_layout",
                                          "tile_to_shape"};
  return names.contains(operation);
}

struct Tally {
  unsigned run = 0;
  unsigned refused = 0;
  unsigned failed = 0;
};

void runRow(const Row &row, std::mt19937 &random, Tally &tally) {
  const auto operands = parseOperands(row.operation);
  if (!operands || !llvm::all_of(*operands, isStatic) || dependsOnStaticness(row.operation.name))
    return;
  AlgebraContext staticContext;
  const auto expected = evaluate(staticContext, row.operation, *operands);
  if (!expected || staticContext.failed())
    return;
  Interpreter interpreter;
  Rewriter rewriter(interpreter, random);
  llvm::SmallVector<Value, 3> dynamic;
  for (const Value &operand : *operands)
    dynamic.push_back(rewriter.makeDynamic(operand));
  AlgebraContext cx(&interpreter);
  const auto result = evaluate(cx, row.operation, dynamic);
  if (!result || cx.failed() || interpreter.trapped) {
    ++tally.refused;
    return;
  }
  ++tally.run;
  if (meaning(*result) == meaning(*expected))
    return;
  ++tally.failed;
  llvm::errs() << row.where << ": " << row.text << "\n    with";
  for (const Value &operand : dynamic)
    llvm::errs() << " " << toText(operand);
  llvm::errs() << "\n    got " << toText(*result) << "\n    that is " << meaning(*result)
               << "\n    not " << meaning(*expected) << "\n";
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  // The same cases every time.
  std::mt19937 random(20); // NOLINT(bugprone-random-generator-seed)
  Tally tally;
  bool read = true;
  for (int round = 0; round != 20; ++round)
    read &= forEachRow(argv[1], [&](const Row &row) { runRow(row, random, tally); });
  llvm::outs() << tally.run << " run, " << tally.failed << " failed, " << tally.refused
               << " that need static values\n";
  return !read || tally.failed != 0 || tally.run < 1000;
}
