// SPDX-License-Identifier: Apache-2.0
//
// An operation of a dialect that this package does not know, as another back end brings it: atoms
// are made of it, and asked, through the interfaces alone.

#include "fly/Dialect/Fly/IR/AtomOpInterface.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

/// Two lanes that move 64 bits together, of targets whose names begin with "new".
class ForeignCopyType
    : public Type::TypeBase<ForeignCopyType, Type, TypeStorage, fly::CopyOpTypeInterface::Trait,
                            fly::StatefulOpTypeInterface::Trait, fly::AtomOpTypeInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignCopyType)

  using Base::Base;
  static constexpr StringLiteral name = "foreign.copy";

  fly::Layout getThreadLayout() const { return fly::Layout(2, 1); }
  fly::Layout getSourceBitLayout() const {
    return fly::Layout(fly::IntTuple::tuple({2, 32}), fly::IntTuple::tuple({32, 1}));
  }
  fly::Layout getDestinationBitLayout() const { return getSourceBitLayout(); }
  fly::Layout getReferenceBitLayout() const { return getSourceBitLayout(); }
  Type getStateType() const { return IntegerType::get(getContext(), 32); }
  ArrayRef<StringLiteral> getStateMembers() const {
    static constexpr StringLiteral members[] = {"barrier"};
    return members;
  }
  std::optional<std::string> whyUnavailable(StringRef target) const {
    if (target.starts_with("new"))
      return std::nullopt;
    return "foreign.copy needs new, but the kernel is compiled for " + target.str();
  }
};

class ForeignDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialect)

  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
    addTypes<ForeignCopyType>();
  }
  static constexpr StringLiteral getDialectNamespace() { return StringLiteral("foreign"); }
  void printType(Type, DialectAsmPrinter &printer) const override { printer << "copy"; }
};

int checked = 0, failures = 0;

void check(bool holds, StringRef what) {
  ++checked;
  if (holds)
    return;
  ++failures;
  llvm::outs() << "failed: " << what << "\n";
}

} // namespace

int main() {
  MLIRContext context;
  context.loadDialect<fly::FlyDialect, ForeignDialect>();
  Type operation = ForeignCopyType::get(&context);

  auto atom = fly::CopyAtomType::get(&context, operation, /*valBits=*/16);
  FailureOr<fly::Layout> values = fly::getValueLayout(atom, fly::CopyOperand::Source);
  check(succeeded(values) &&
            *values == fly::Layout(fly::IntTuple::tuple({2, 2}), fly::IntTuple::tuple({2, 1})),
        "an atom counts in its values");
  check(!fly::isStaticType(atom), "an atom with state cannot be rebuilt from its type");

  auto atomOp = cast<fly::AtomOpTypeInterface>(operation);
  check(!atomOp.whyUnavailable("new1"), "its own back end says what has it");
  check(atomOp.whyUnavailable("gfx942") ==
            "foreign.copy needs new, but the kernel is compiled for gfx942",
        "and what has not");
  check(atomOp.getStateFields() == SmallVector<StringRef>{"barrier"},
        "by default the fields are the members of the state");
  check(!atomOp.getUnswizzledOperand() && !atomOp.getOperandBits(), "the rest has defaults");
  check(!isa<fly::AtomOpTypeInterface>(fly::UniversalCopyType::get(&context, 32)),
        "what exists everywhere says nothing of targets");

  llvm::outs() << checked << " checked, " << failures << " failed\n";
  return failures ? 1 : 0;
}
