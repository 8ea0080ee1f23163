// SPDX-License-Identifier: Apache-2.0

#include "RuntimeArithEmitter.h"

#include "fly/Dialect/Fly/IR/Constructors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace fly {

Value RuntimeArithEmitter::integer(int64_t value, Type type) {
  auto attribute = IntegerAttr::get(type, value);
  Value &constant = constants[{builder.getInsertionBlock(), attribute}];
  if (!constant) {
    constant = arith::ConstantOp::create(builder, loc, attribute);
    made.insert(constant.getDefiningOp());
  }
  return constant;
}

RuntimeHandle RuntimeArithEmitter::constant(int64_t value, unsigned width) {
  return toHandle(integer(value, builder.getIntegerType(width)));
}

template <typename OpTy, typename... Operands>
RuntimeHandle RuntimeArithEmitter::emit(Operands... operands) {
  Value result = builder.createOrFold<OpTy>(loc, operands...);
  // A result that folded to a constant moves to the others.
  auto folded = result.getDefiningOp<arith::ConstantOp>();
  auto attribute = folded ? dyn_cast<IntegerAttr>(folded.getValue()) : IntegerAttr();
  if (!attribute)
    return toHandle(result);
  Value known = integer(attribute.getInt(), attribute.getType());
  if (known != result && folded->use_empty())
    folded->erase();
  return toHandle(known);
}

RuntimeHandle RuntimeArithEmitter::extend(RuntimeHandle value) {
  return emit<arith::ExtSIOp>(Type(builder.getI64Type()), toValue(value));
}

RuntimeHandle RuntimeArithEmitter::binary(Op op, RuntimeHandle left, RuntimeHandle right) {
  Value a = toValue(left), b = toValue(right);
  switch (op) {
  case Op::Add:
    return emit<arith::AddIOp>(a, b);
  case Op::Sub:
    return emit<arith::SubIOp>(a, b);
  case Op::Mul:
    return emit<arith::MulIOp>(a, b);
  case Op::Div:
    return emit<arith::DivSIOp>(a, b);
  case Op::Rem:
    return emit<arith::RemSIOp>(a, b);
  case Op::CeilDiv:
    return emit<arith::CeilDivSIOp>(a, b);
  case Op::Min:
    return emit<arith::MinSIOp>(a, b);
  case Op::Max:
    return emit<arith::MaxSIOp>(a, b);
  case Op::And:
    return emit<arith::AndIOp>(a, b);
  case Op::Xor:
    return emit<arith::XOrIOp>(a, b);
  case Op::ShiftLeft:
    return emit<arith::ShLIOp>(a, b);
  case Op::ShiftRight:
    break;
  }
  return emit<arith::ShRUIOp>(a, b);
}

RuntimeHandle RuntimeArithEmitter::compare(Predicate predicate, RuntimeHandle a, RuntimeHandle b) {
  const auto kind =
      predicate == Predicate::Equal ? arith::CmpIPredicate::eq : arith::CmpIPredicate::slt;
  return emit<arith::CmpIOp>(kind, toValue(a), toValue(b));
}

RuntimeHandle RuntimeArithEmitter::both(RuntimeHandle a, RuntimeHandle b) {
  return emit<arith::AndIOp>(toValue(a), toValue(b));
}

} // namespace fly
