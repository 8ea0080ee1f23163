// SPDX-License-Identifier: Apache-2.0
#include "AtomState.h"
#include "Addressing.h"
#include "TypeConverter.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::rocdl {

/// Fields of gfx1250.tdm that do not start from zero.
constexpr int64_t tdmFirstExtent = 1;
constexpr int64_t tdmFirstStride = 6;
/// "The memref's own stride": what tdm strides start from.
constexpr int64_t tdmUnsetStride = -0x80000000LL;

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (type.isInteger())
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  return LLVM::ZeroOp::create(builder, loc, type);
}

/// Fields of gfx1250.tdm start from zero, but for extents, which clamp nothing, and strides.
static Value defaultTDMState(OpBuilder &builder, Location loc, LLVM::LLVMStructType type) {
  Value state = LLVM::UndefOp::create(builder, loc, type);
  Value zero = constantI32(builder, loc, 0);
  Value noExtent = constantI32(builder, loc, std::numeric_limits<int32_t>::max());
  Value noStride = constantI64(builder, loc, tdmUnsetStride);
  Value noOffset = constantI64(builder, loc, 0);
  for (auto [position, field] : llvm::enumerate(type.getBody())) {
    const auto index = static_cast<int64_t>(position);
    const bool isExtent = index >= tdmFirstExtent && index < tdmFirstStride;
    const bool isStride = index >= tdmFirstStride && index < tdmFirstStride + 4;
    state = writeField(builder, loc, state, index,
                       isExtent              ? noExtent
                       : isStride            ? noStride
                       : field.isInteger(32) ? zero
                                             : noOffset);
  }
  return state;
}

Value defaultState(OpBuilder &builder, Location loc, Type operation) {
  LLVM::LLVMStructType type = getAtomStateType(operation);
  if (isa<GFX1250TDMType>(operation))
    return defaultTDMState(builder, loc, type);
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

Value toFieldType(OpBuilder &builder, Location loc, Type operation, Value value, Type fieldType) {
  Type type = value.getType();
  if (type == fieldType)
    return value;
  if (isa<CDNA3SMFMACType, CDNA4MFMAScaleType, GFX1250WMMAScaleType>(operation))
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

} // namespace fly::rocdl
