// SPDX-License-Identifier: Apache-2.0
//
// Result types of make_tiled_tdm_load_atom and make_tiled_tdm_store_atom.

#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/Fly/IR/Infer.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Dialect/FlyROCDL/IR/TensorTiling.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace fly::rocdl {

/// `tensorToTDM` with its dimensions counted from the innermost.
static IntTuple innermostFirst(const IntTuple &tuple, unsigned rank) {
  if (tuple.isLeaf())
    return IntTuple(1).withPath(BasisPath().append(rank - 1 - tuple.path().front()));
  SmallVector<IntTuple> modes;
  for (const IntTuple &mode : tuple.modes())
    modes.push_back(innermostFirst(mode, rank));
  return IntTuple::tuple(modes);
}

// While an op is parsed its attributes are in the dictionary only, and what was left out is
// nowhere.
template <typename Attr, typename Adaptor>
static Attr attributeOf(Adaptor adaptor, Attr property, StringRef name) {
  if (property || !adaptor.getAttributes())
    return property;
  return adaptor.getAttributes().template getAs<Attr>(name);
}
template <typename Adaptor> static int32_t numWarpsOf(Adaptor adaptor) {
  IntegerAttr attribute = attributeOf(adaptor, adaptor.getNumWarpsAttr(), "numWarps");
  return attribute ? static_cast<int32_t>(attribute.getInt()) : 1;
}
template <typename Adaptor> static int32_t cacheModifierOf(Adaptor adaptor) {
  IntegerAttr attribute = attributeOf(adaptor, adaptor.getCacheModifierAttr(), "cacheModifier");
  return attribute ? static_cast<int32_t>(attribute.getInt()) : 0;
}
template <typename Adaptor> static bool hasAtomicBarrier(Adaptor adaptor) {
  BoolAttr attribute = attributeOf(adaptor, adaptor.getAtomicBarrierAttr(), "atomicBarrier");
  return attribute && attribute.getValue();
}

template <typename Adaptor, typename MakeAtom>
static LogicalResult inferTiledAtom(MLIRContext *context, std::optional<Location> location,
                                    StringRef name, Adaptor adaptor, MakeAtom makeAtom,
                                    SmallVectorImpl<Type> &results) {
  const OperandConstraint constraints[] = {
      {"a tensor in memory", OperandConstraint::Single,
       [](Type type) { return isa<fly::MemRefType>(type); }},
      {"any type", OperandConstraint::Single, [](Type) { return true; }},
      {"a tile", OperandConstraint::Single, [](Type type) { return isa<TileType>(type); }},
  };
  if (failed(checkOperands(location, name, constraints, adaptor.getOperands())))
    return failure();
  auto tensor = cast<fly::MemRefType>(adaptor.getTensor().getType());
  auto tiler = cast<TileType>(adaptor.getTiler().getType());
  auto lds = dyn_cast<LayoutType>(adaptor.getLdsLayout().getType());
  if (!lds)
    return emitOptionalError(location, name, ": expected !fly.layout for the LDS layout, got ",
                             adaptor.getLdsLayout().getType());
  if (tensor.getLayout().isComposed() || !tensor.isInSpace(AddressSpace::Global))
    return emitOptionalError(location, name, ": expected a global tensor with a plain layout, got ",
                             adaptor.getTensor().getType());
  if (attributeOf(adaptor, adaptor.getInternalTypeAttr(), "internalType"))
    return emitOptionalError(
        location, name,
        ": internalType must be omitted until rational basis strides are supported");
  llvm::Expected<TensorBox> box = fitTensorBox(tensor.getLayout().plain(), lds.getValue(),
                                               tiler.getValue(), numWarpsOf(adaptor));
  if (!box)
    return emitOptionalError(location, name, ": ", llvm::toString(box.takeError()));

  Type atom = makeAtom(*box, tensor.getElementType());
  if (!atom)
    return failure(); // Diagnosed by the type.
  unsigned rank = box->shape.size();
  SmallVector<IntTuple> origin(rank, IntTuple(0));
  Layout coordinates(tensor.getLayout().plain().shape(), innermostFirst(box->tensorToTDM, rank));
  results.push_back(CopyAtomType::get(context, atom, getElementBitWidth(tensor.getElementType())));
  results.push_back(CoordTensorType::get(context, IntTuple::tuple(origin), coordinates));
  return success();
}

LogicalResult MakeTiledTDMLoadAtomOp::inferReturnTypes(MLIRContext *context,
                                                       std::optional<Location> location,
                                                       Adaptor adaptor,
                                                       SmallVectorImpl<Type> &results) {
  if (!location)
    location = UnknownLoc::get(context);
  auto diagnose = [&] { return mlir::emitError(*location); };
  return inferTiledAtom(
      context, location, MakeTiledTDMLoadAtomOp::getOperationName(), adaptor,
      [&](const TensorBox &box, Type element) -> Type {
        return CDNA5TensorLoadType::getChecked(diagnose, context, ArrayRef<int32_t>(box.shape),
                                               element, box.tensorToTDM, hasAtomicBarrier(adaptor),
                                               cacheModifierOf(adaptor),
                                               /*iterCount=*/1, box.padInterval, box.padAmount);
      },
      results);
}

LogicalResult MakeTiledTDMStoreAtomOp::inferReturnTypes(MLIRContext *context,
                                                        std::optional<Location> location,
                                                        Adaptor adaptor,
                                                        SmallVectorImpl<Type> &results) {
  if (!location)
    location = UnknownLoc::get(context);
  auto diagnose = [&] { return mlir::emitError(*location); };
  return inferTiledAtom(
      context, location, MakeTiledTDMStoreAtomOp::getOperationName(), adaptor,
      [&](const TensorBox &box, Type element) -> Type {
        if (box.padInterval != 0) {
          diagnose() << "a tensor store reads LDS without padding";
          return Type();
        }
        return CDNA5TensorStoreType::getChecked(diagnose, context, ArrayRef<int32_t>(box.shape),
                                                element, box.tensorToTDM, hasAtomicBarrier(adaptor),
                                                cacheModifierOf(adaptor),
                                                /*iterCount=*/1);
      },
      results);
}

} // namespace fly::rocdl
