// SPDX-License-Identifier: Apache-2.0

#include "PackedValues.h"

#include "fly/Dialect/Fly/IR/Constructors.h"

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

  /// The struct of the dynamic parts of `value`, which is not static.
  Value pack(Value value) {
    result = LLVM::UndefOp::create(builder, loc, getPackedTypes(value.getType())->front());
    next = 0;
    llvm::TypeSwitch<Type>(value.getType())
        .Case<IntTupleType>([&](auto) { insertLeaves(value); })
        .Case<LayoutType>([&](auto) {
          insertPart<GetShapeOp>(value);
          insertPart<GetStrideOp>(value);
        })
        .Case<ComposedLayoutType>([&](auto) {
          insertPart<ComposedGetOuterOp>(value);
          insertPart<ComposedGetOffsetOp>(value);
          insertPart<ComposedGetInnerOp>(value);
        })
        .Case<CoordTensorType>([&](auto) {
          insertPart<GetIterOp>(value);
          insertPart<GetLayoutOp>(value);
        });
    return result;
  }

private:
  void insert(Value part) {
    result = LLVM::InsertValueOp::create(builder, loc, result, part, int64_t(next++));
  }

  /// The part that `OpTy` takes out of `value`, unless it is static.
  template <typename OpTy> void insertPart(Value value) {
    auto part = OpTy::create(builder, loc, value);
    if (isStaticType(part.getType()))
      part.erase();
    else
      insert(Packer(builder, loc).pack(part));
  }

  void insertLeaves(Value tuple) {
    const IntTuple value = cast<IntTupleType>(tuple.getType()).getValue();
    if (value.isStatic())
      return;
    if (value.isLeaf()) {
      insert(GetScalarOp::create(builder, loc, tuple));
      return;
    }
    for (const auto &[index, mode] : llvm::enumerate(value.modes()))
      if (!mode.isStatic())
        insertLeaves(GetOp::create(builder, loc, tuple, ArrayRef(static_cast<int32_t>(index))));
  }

  OpBuilder &builder;
  Location loc;
  Value result;
  /// The field that comes next.
  unsigned next = 0;
};

Value staticLayout(OpBuilder &builder, Location loc, const AnyLayout &layout) {
  return StaticOp::create(builder, loc, getTypeOf(builder.getContext(), layout));
}

/// Puts values together from the structs of their dynamic parts.
class Unpacker {
public:
  Unpacker(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value tuple(const IntTuple &tuple, Value packed) {
    SmallVector<Value> leaves;
    for (unsigned i = 0, end = countDynamicLeaves(tuple); i != end; ++i)
      leaves.push_back(extract(packed, i));
    return Constructors(builder, loc).tuple(withHandles(tuple, leaves));
  }

  Value layout(const AnyLayout &layout, Value packed) {
    unsigned next = 0;
    if (!layout.isComposed()) {
      Value shape = part(layout.plain().shape(), packed, next);
      Value stride = part(layout.plain().stride(), packed, next);
      return MakeLayoutOp::create(builder, loc, shape, stride);
    }
    const ComposedLayout &composed = layout.composed();
    Value outer = part(composed.outer(), packed, next);
    Value offset = part(composed.offset(), packed, next);
    Value inner = part(composed.inner(), packed, next);
    return MakeComposedLayoutOp::create(builder, loc, inner, offset, outer);
  }

  Value coordinates(CoordTensorType type, Value packed) {
    unsigned next = 0;
    Value base = part(type.getBase(), packed, next);
    Value layout = type.getLayout().isStatic()
                       ? staticLayout(builder, loc, type.getLayout())
                       : this->layout(type.getLayout(), extract(packed, next++));
    return MakeViewOp::create(builder, loc, base, layout);
  }

private:
  Value extract(Value packed, unsigned index) {
    return LLVM::ExtractValueOp::create(builder, loc, packed, int64_t(index));
  }

  // Parts that, unless they are static, are the next field of `packed`.

  Value part(const IntTuple &tuple, Value packed, unsigned &next) {
    if (tuple.isStatic())
      return Constructors(builder, loc).tuple(tuple);
    return this->tuple(tuple, extract(packed, next++));
  }

  Value part(const AnyLayout &layout, Value packed, unsigned &next) {
    if (layout.isStatic())
      return Constructors(builder, loc).layout(layout);
    return this->layout(layout, extract(packed, next++));
  }

  Value part(const InnerMap &inner, Value packed, unsigned &next) {
    if (inner.isStatic())
      return Constructors(builder, loc).inner(inner);
    const Layout *plain = inner.layout();
    return layout(plain ? AnyLayout(*plain) : AnyLayout(*inner.composed()),
                  extract(packed, next++));
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

SmallVector<Value, 2> pack(OpBuilder &builder, Location loc, Value value) {
  const SmallVector<Type, 2> types = *getPackedTypes(value.getType());
  if (types.empty())
    return {};
  Packer packer(builder, loc);
  if (!isa<fly::MemRefType>(value.getType()))
    return {packer.pack(value)};
  SmallVector<Value, 2> packed = {GetIterOp::create(builder, loc, value)};
  Value layout = GetLayoutOp::create(builder, loc, value);
  if (types.size() == 2)
    packed.push_back(packer.pack(layout));
  return packed;
}

Value unpack(OpBuilder &builder, Location loc, Type type, ValueRange packed) {
  if (isStaticType(type))
    return StaticOp::create(builder, loc, type);
  Unpacker unpacker(builder, loc);
  return llvm::TypeSwitch<Type, Value>(type)
      .Case<IntTupleType>(
          [&](IntTupleType tuple) { return unpacker.tuple(tuple.getValue(), packed.front()); })
      .Case<LayoutType, ComposedLayoutType>(
          [&](auto layout) { return unpacker.layout(layout.getValue(), packed.front()); })
      .Case<CoordTensorType>(
          [&](CoordTensorType tensor) { return unpacker.coordinates(tensor, packed.front()); })
      .Case<fly::MemRefType>([&](fly::MemRefType memref) {
        Value layout = packed.size() == 1 ? staticLayout(builder, loc, memref.getLayout())
                                          : unpacker.layout(memref.getLayout(), packed[1]);
        return MakeViewOp::create(builder, loc, packed.front(), layout);
      })
      .Default(Value());
}

} // namespace fly
