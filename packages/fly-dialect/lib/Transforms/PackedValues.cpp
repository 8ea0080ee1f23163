// SPDX-License-Identifier: Apache-2.0

#include "PackedValues.h"

#include "Constructors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

/// The struct types of the dynamic parts of values; null for static ones.
class PackedTypes {
public:
  explicit PackedTypes(MLIRContext *context) : context(context) {}

  Type of(const IntTuple &tuple) {
    SmallVector<Type> leaves;
    forEachLeaf(tuple, [&](const IntTuple &leaf) {
      if (leaf.isDynamicLeaf())
        leaves.push_back(IntegerType::get(context, leaf.width()));
    });
    return pack(leaves);
  }
  Type of(const Layout &layout) { return pack({of(layout.shape()), of(layout.stride())}); }
  Type of(const AnyLayout &layout) {
    return layout.isComposed() ? of(layout.composed()) : of(layout.plain());
  }
  Type of(const InnerMap &inner) {
    if (const Layout *layout = inner.layout())
      return of(*layout);
    if (const ComposedLayout *layout = inner.composed())
      return of(*layout);
    return {};
  }
  Type of(const ComposedLayout &layout) {
    return pack({of(layout.outer()), of(layout.offset()), of(layout.inner())});
  }
  Type of(const IntTuple &base, const AnyLayout &layout) { return pack({of(base), of(layout)}); }

private:
  Type pack(ArrayRef<Type> parts) {
    SmallVector<Type> dynamic;
    llvm::copy_if(parts, std::back_inserter(dynamic), [](Type type) { return bool(type); });
    if (dynamic.empty())
      return {};
    return LLVM::LLVMStructType::getLiteral(context, dynamic, /*isPacked=*/true);
  }

  MLIRContext *context;
};

} // namespace

std::optional<SmallVector<Type, 2>> getPackedTypes(Type type) {
  using Types = SmallVector<Type, 2>;
  if (isStaticType(type))
    return Types();
  PackedTypes packed(type.getContext());
  return llvm::TypeSwitch<Type, std::optional<Types>>(type)
      .Case<IntTupleType, LayoutType, ComposedLayoutType>(
          [&](auto spelled) { return Types{packed.of(spelled.getValue())}; })
      .Case<CoordTensorType>([&](CoordTensorType tensor) {
        return Types{packed.of(tensor.getBase(), tensor.getLayout())};
      })
      .Case<fly::MemRefType>([&](fly::MemRefType memref) {
        Types types = {memref.getPointerType()};
        if (Type layout = packed.of(memref.getLayout()))
          types.push_back(layout);
        return types;
      })
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {

/// Takes the dynamic parts out of values; null for static ones.
class Packer {
public:
  Packer(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value pack(Value value) {
    if (isStaticType(value.getType()))
      return {};
    return llvm::TypeSwitch<Type, Value>(value.getType())
        .Case<IntTupleType>([&](auto) { return structOf(leaves(value)); })
        .Case<LayoutType>([&](auto) { return packLayout(value); })
        .Case<ComposedLayoutType>([&](auto) { return packComposed(value); })
        .Case<CoordTensorType>([&](auto) { return packCoordinates(value); })
        .Default(Value());
  }

  /// Pointer or base, and layout of a tensor.
  std::pair<Value, Value> split(Value tensor) {
    if (auto make = tensor.getDefiningOp<MakeViewOp>())
      return {make.getIter(), make.getLayout()};
    Value iterator = GetIterOp::create(builder, loc, tensor);
    return {iterator, GetLayoutOp::create(builder, loc, tensor)};
  }

private:
  SmallVector<Value> leaves(Value tuple) {
    if (auto make = tuple.getDefiningOp<MakeIntTupleOp>())
      return SmallVector<Value>(make->getOperands());
    SmallVector<Type> types;
    forEachLeaf(cast<IntTupleType>(tuple.getType()).getValue(), [&](const IntTuple &leaf) {
      if (leaf.isDynamicLeaf())
        types.push_back(builder.getIntegerType(leaf.width()));
    });
    auto op = GetLeavesOp::create(builder, loc, types, tuple, builder.getBoolAttr(true));
    return SmallVector<Value>(op->getResults());
  }

  Value packLayout(Value layout) {
    if (auto make = layout.getDefiningOp<MakeLayoutOp>())
      return structOf({pack(make.getShape()), pack(make.getStride())});
    Value shape = GetShapeOp::create(builder, loc, layout);
    Value stride = GetStrideOp::create(builder, loc, layout);
    return structOf({pack(shape), pack(stride)});
  }

  Value packComposed(Value layout) {
    if (auto make = layout.getDefiningOp<MakeComposedLayoutOp>())
      return structOf({pack(make.getOuter()), pack(make.getOffset()), pack(make.getInner())});
    Value outer = ComposedGetOuterOp::create(builder, loc, layout);
    Value offset = ComposedGetOffsetOp::create(builder, loc, layout);
    Value inner = ComposedGetInnerOp::create(builder, loc, layout);
    return structOf({pack(outer), pack(offset), pack(inner)});
  }

  Value packCoordinates(Value tensor) {
    const auto [base, layout] = split(tensor);
    return structOf({pack(base), pack(layout)});
  }

  /// The parts that there are, as one packed struct.
  Value structOf(ArrayRef<Value> parts) {
    SmallVector<Value> dynamic;
    SmallVector<Type> types;
    for (Value part : parts)
      if (part) {
        dynamic.push_back(part);
        types.push_back(part.getType());
      }
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types, /*isPacked=*/true);
    Value result = LLVM::UndefOp::create(builder, loc, type);
    for (const auto &[index, part] : llvm::enumerate(dynamic))
      result = LLVM::InsertValueOp::create(builder, loc, result, part, int64_t(index));
    return result;
  }

  OpBuilder &builder;
  Location loc;
};

/// Puts values together from the structs of their dynamic parts.
class Unpacker {
public:
  Unpacker(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  IntTuple tuple(const IntTuple &tuple, Value packed) {
    SmallVector<Value> leaves;
    for (unsigned i = 0, end = countDynamicLeaves(tuple); i != end; ++i)
      leaves.push_back(extract(packed, i));
    return withHandles(tuple, leaves);
  }

  AnyLayout layout(const AnyLayout &layout, Value packed) {
    if (layout.isStatic())
      return layout;
    unsigned next = 0;
    if (!layout.isComposed()) {
      const Layout &plain = layout.plain();
      IntTuple shape = part(plain.shape(), packed, next);
      IntTuple stride = part(plain.stride(), packed, next);
      return Layout(std::move(shape), std::move(stride));
    }
    const ComposedLayout &composed = layout.composed();
    AnyLayout outer = composed.outer();
    if (!outer.isStatic())
      outer = this->layout(outer, extract(packed, next++));
    IntTuple offset = part(composed.offset(), packed, next);
    InnerMap inner = composed.inner();
    if (!inner.isStatic())
      inner = innerMap(inner, extract(packed, next++));
    return ComposedLayout(std::move(inner), std::move(offset), std::move(outer));
  }

  TensorValue coordinates(CoordTensorType type, Value packed) {
    unsigned next = 0;
    IntTuple base = part(type.getBase(), packed, next);
    AnyLayout layout = type.getLayout();
    if (!layout.isStatic())
      layout = this->layout(layout, extract(packed, next++));
    return {{}, std::move(base), std::move(layout)};
  }

private:
  Value extract(Value packed, unsigned index) {
    return LLVM::ExtractValueOp::create(builder, loc, packed, int64_t(index));
  }

  /// A part that, unless it is static, is the next field of `packed`.
  IntTuple part(const IntTuple &tuple, Value packed, unsigned &next) {
    return tuple.isStatic() ? tuple : this->tuple(tuple, extract(packed, next++));
  }

  InnerMap innerMap(const InnerMap &inner, Value packed) {
    if (const Layout *plain = inner.layout())
      return layout(*plain, packed).plain();
    return layout(*inner.composed(), packed).composed();
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

SmallVector<Value, 2> pack(OpBuilder &builder, Location loc, Value value) {
  if (isStaticType(value.getType()))
    return {};
  Packer packer(builder, loc);
  if (!isa<fly::MemRefType>(value.getType()))
    return {packer.pack(value)};
  const auto [pointer, layout] = packer.split(value);
  SmallVector<Value, 2> packed = {pointer};
  if (Value packedLayout = packer.pack(layout))
    packed.push_back(packedLayout);
  return packed;
}

Value unpack(OpBuilder &builder, Location loc, Type type, ValueRange packed) {
  if (isStaticType(type))
    return StaticOp::create(builder, loc, type);
  Unpacker unpacker(builder, loc);
  Constructors constructors(builder, loc);
  return llvm::TypeSwitch<Type, Value>(type)
      .Case<IntTupleType>([&](IntTupleType tuple) {
        return constructors.tuple(unpacker.tuple(tuple.getValue(), packed.front()));
      })
      .Case<LayoutType, ComposedLayoutType>([&](auto layout) {
        return constructors.layout(unpacker.layout(layout.getValue(), packed.front()));
      })
      .Case<CoordTensorType>([&](CoordTensorType tensor) {
        return constructors.value(unpacker.coordinates(tensor, packed.front()));
      })
      .Case<fly::MemRefType>([&](fly::MemRefType memref) {
        const AnyLayout layout = packed.size() == 1
                                     ? memref.getLayout()
                                     : unpacker.layout(memref.getLayout(), packed[1]);
        return constructors.view(packed.front(), layout);
      })
      .Default(Value());
}

} // namespace fly
