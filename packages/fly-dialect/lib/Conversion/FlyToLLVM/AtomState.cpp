// SPDX-License-Identifier: Apache-2.0
#include "AtomState.h"
#include "Addressing.h"
#include "TypeConverter.h"
#include "fly/Dialect/Fly/IR/AtomOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::lowering {

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (type.isInteger())
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  return LLVM::ZeroOp::create(builder, loc, type);
}

Value zeroState(OpBuilder &builder, Location loc, Type operation) {
  LLVM::LLVMStructType type = getAtomStateType(operation);
  Value state = LLVM::UndefOp::create(builder, loc, type);
  llvm::SmallDenseMap<Type, Value> zeros;
  for (auto [position, fieldType] : llvm::enumerate(type.getBody())) {
    Value &zero = zeros[fieldType];
    if (!zero)
      zero = zeroOf(builder, loc, fieldType);
    state = writeField(builder, loc, state, position, zero);
  }
  return state;
}

std::optional<int64_t> stateField(Type operation, StringRef name) {
  auto atomOp = dyn_cast<AtomOpTypeInterface>(operation);
  if (!atomOp)
    return std::nullopt;
  ArrayRef<StringLiteral> members = atomOp.getStateMembers();
  const auto *found = llvm::find(members, name);
  if (found == members.end())
    return std::nullopt;
  return found - members.begin();
}

Value toFieldType(OpBuilder &builder, Location loc, Value value, Type fieldType, bool keepsBits) {
  Type type = value.getType();
  if (type == fieldType)
    return value;
  if (keepsBits)
    return reinterpret(builder, loc, value, fieldType);
  if (!fieldType.isInteger())
    return Value();
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, fieldType, value);
  if (!type.isSignlessInteger())
    return Value();
  if (type.getIntOrFloatBitWidth() > fieldType.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, fieldType, value);
  return arith::ExtSIOp::create(builder, loc, fieldType, value);
}

Value readField(OpBuilder &builder, Location loc, Value state, int64_t position) {
  return LLVM::ExtractValueOp::create(builder, loc, state, ArrayRef<int64_t>{position});
}

Value writeField(OpBuilder &builder, Location loc, Value state, int64_t position, Value value) {
  return LLVM::InsertValueOp::create(builder, loc, state, value, ArrayRef<int64_t>{position});
}

} // namespace fly::lowering
