// SPDX-License-Identifier: Apache-2.0
//
// What every operation of the algebra works in: where its errors go, and who computes its dynamic
// leaves.
//
// One implementation of each operation serves type inference, lowering and folding. Without a
// RuntimeArith an operation computes only what is statically known of its result. With one it also
// emits the computation of each dynamic leaf and attaches what stands for its value.
//
// Operations return plain values. The first error of a context is kept (failed(), message()); from
// then on results are meaningless but harmless, and every operation ends quickly, so that callers
// check once, behind a sequence of operations. No operand makes an operation crash, or work longer
// than its number of leaves warrants.

#ifndef FLY_ALGEBRA_CONTEXT_H
#define FLY_ALGEBRA_CONTEXT_H

#include "fly/Algebra/IntTuple.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

#include <tuple>

namespace fly {

/// Emits integer computations on run-time handles. Operands have the same width, 32 or 64 bits
/// unless stated; all arithmetic is signed.
class RuntimeArith {
public:
  enum class Op {
    Add,
    Sub,
    Mul,
    Div,     ///< truncating
    Rem,     ///< sign of the dividend
    CeilDiv, ///< towards positive infinity
    Min,
    Max,
    And,
    Xor,
    ShiftLeft,
    ShiftRight, ///< logical
  };
  enum class Predicate { Equal, Less };

  virtual ~RuntimeArith();
  virtual RuntimeHandle constant(int64_t value, unsigned width) = 0;
  /// The 32-bit `value` sign-extended to 64 bits.
  virtual RuntimeHandle extend(RuntimeHandle value) = 0;
  virtual RuntimeHandle binary(Op op, RuntimeHandle a, RuntimeHandle b) = 0;
  /// A one-bit truth value.
  virtual RuntimeHandle compare(Predicate predicate, RuntimeHandle a, RuntimeHandle b) = 0;
  /// The conjunction of two truth values.
  virtual RuntimeHandle both(RuntimeHandle a, RuntimeHandle b) = 0;
};

class AlgebraContext {
public:
  explicit AlgebraContext(RuntimeArith *runtime = nullptr) : arith(runtime) {}

  /// Null in type inference.
  RuntimeArith *runtime() const { return arith; }

  bool failed() const { return hasFailed; }
  /// Names the operations, their operands and the condition that was not met. Empty without error.
  const std::string &message() const { return text; }
  /// Records an error, unless there already is one.
  void fail(const llvm::Twine &condition);

private:
  template <typename... Operands> friend class OperationScope;

  RuntimeArith *arith;
  bool hasFailed = false;
  std::string text;
};

/// Names an operation and its operands in the message of an error that occurs during its lifetime.
/// Costs nothing otherwise.
template <typename... Operands> class OperationScope {
public:
  OperationScope(AlgebraContext &cx, llvm::StringRef name, const Operands &...operands)
      : cx(cx), name(name), operands(operands...), entered(!cx.failed()) {}
  OperationScope(const OperationScope &) = delete;
  OperationScope &operator=(const OperationScope &) = delete;
  ~OperationScope() {
    if (entered && cx.failed())
      describe();
  }

private:
  void describe() {
    std::string described;
    llvm::raw_string_ostream os(described);
    os << name << '(';
    llvm::StringRef separator = "";
    std::apply(
        [&](const Operands &...operand) { ((os << separator << operand, separator = ", "), ...); },
        operands);
    os << "): " << cx.text;
    cx.text = std::move(described);
  }

  AlgebraContext &cx;
  llvm::StringRef name;
  std::tuple<const Operands &...> operands;
  bool entered;
};

/// `modes` as one tuple; fails when that is empty, too deep or too large.
IntTuple makeTuple(AlgebraContext &cx, llvm::ArrayRef<IntTuple> modes);

} // namespace fly

#endif // FLY_ALGEBRA_CONTEXT_H
