// SPDX-License-Identifier: Apache-2.0
//
// Copies of boxes by the copy engine, and the atoms that a kernel makes of tensor maps.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomState.h"
#include "../FlyToLLVM/TypeConverter.h"
#include "AtomCalls.h"
#include "NVVMDevice.h"
#include "fly/Algebra/Layout.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyNVVM/IR/SharedTile.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {
namespace {

constexpr int64_t barrierField = 0, maskField = 1;

/// The cache policy, as `createpolicy` makes it, of lines that the L2 gives up before others.
constexpr int64_t evictFirstPolicy = 0x12F0000000000000;

/// The modes of a static layout with more than one element, the one of the least stride first, and
/// joined where one goes on as the one before does.
SmallVector<std::pair<int64_t, int64_t>> sortedModes(const Layout &layout) {
  SmallVector<int64_t> extents, strides;
  forEachLeaf(layout.shape(), [&](const IntTuple &leaf) { extents.push_back(leaf.staticValue()); });
  forEachLeaf(layout.stride(),
              [&](const IntTuple &leaf) { strides.push_back(leaf.staticValue()); });
  SmallVector<std::pair<int64_t, int64_t>> modes;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    if (extent != 1)
      modes.push_back({stride, extent});
  llvm::sort(modes);
  return modes;
}

/// Whether the tile has the elements of the box one row behind the other and no others.
bool holdsBox(const Layout &layout, ArrayRef<int32_t> box) {
  int64_t elements = 1;
  for (int32_t extent : box)
    elements *= extent;
  int64_t next = 1;
  for (auto [stride, extent] : sortedModes(layout)) {
    if (stride != next)
      return false;
    next *= extent;
  }
  return next == elements;
}

template <typename Atom>
LogicalResult checkTile(Atom operation, const CopyCall &call, const CallOperand &coordinates,
                        const CallOperand &shared) {
  if (call.resultType || !coordinates || !isa<CoordTensorType>(coordinates.original.getType()) ||
      !shared.isMemoryIn(AddressSpace::Shared))
    return call.op->emitError("a copy of ")
           << Type(operation)
           << " is between a tile of the coordinates of the tensor and a tile in shared memory";
  fly::MemRefType tile = shared.memref();
  if (tile.getElementType() != operation.getElem())
    return call.op->emitError("the copy moves elements of ")
           << operation.getElem() << ", got a tile of " << tile.getElementType();
  if (tile.getLayout().isComposed() || !tile.getLayout().isStatic() ||
      !holdsBox(tile.getLayout().plain(), operation.getBox()))
    return call.op->emitError("the copy moves boxes of ")
           << operation.getBox() << ", outermost extent first, whose rows lie in shared memory one "
           << "behind the other; got the layout " << tile.getLayout().str();
  const Swizzle expected = swizzleOfWidth(operation.getSwizzle());
  if (tile.getSwizzle() != expected && !(expected.isTrivial() && tile.getSwizzle().isTrivial()))
    return call.op->emitError("the tensor map has a swizzle of ")
           << operation.getSwizzle() << " bytes, which is " << expected.str()
           << " of a pointer; got a tile with " << tile.getSwizzle().str();
  return success();
}

FailureOr<SmallVector<Value>> originOf(OpBuilder &builder, const CopyCall &call,
                                       const CallOperand &coordinates, size_t rank) {
  auto origin = tileOrigin(builder, call.loc(), coordinates.original, rank);
  if (!origin)
    return call.op->emitError("the coordinates must start at ")
           << rank << " integers, innermost first, got " << coordinates.original.getType();
  return *origin;
}

/// The address of the map, which is the last field of the state.
Value mapOf(OpBuilder &builder, const CopyCall &call) {
  auto fields = cast<LLVM::LLVMStructType>(call.state.getType()).getBody();
  return readField(builder, call.loc(), call.state, static_cast<int64_t>(fields.size()) - 1);
}

} // namespace

CopyResult lowerTMALoad(OpBuilder &builder, SM90TMALoadType operation, const CopyCall &call) {
  if (failed(checkTile(operation, call, call.source, call.destination)))
    return failure();
  auto origin = originOf(builder, call, call.source, operation.getBox().size());
  if (failed(origin))
    return failure();
  Location loc = call.loc();
  constexpr unsigned clusterSpace = 7;
  auto clusterPointer = LLVM::LLVMPointerType::get(builder.getContext(), clusterSpace);
  Value destination =
      LLVM::AddrSpaceCastOp::create(builder, loc, clusterPointer, call.destination.converted);
  Value barrier = readField(builder, loc, call.state, barrierField);
  Value mask = operation.getMulticast() ? readField(builder, loc, call.state, maskField) : Value();
  Value policy = operation.getEvictFirst() ? constantI64(builder, loc, evictFirstPolicy) : Value();
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, destination, mapOf(builder, call), *origin, barrier,
      /*im2colOffsets=*/ValueRange(), mask, policy, NVVM::TMALoadMode::TILE,
      /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  return Value();
}

CopyResult lowerTMAStore(OpBuilder &builder, SM90TMAStoreType operation, const CopyCall &call) {
  if (failed(checkTile(operation, call, call.destination, call.source)))
    return failure();
  auto origin = originOf(builder, call, call.destination, operation.getBox().size());
  if (failed(origin))
    return failure();
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      builder, call.loc(), mapOf(builder, call), call.source.converted, *origin,
      /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  return Value();
}

CopyResult lowerTMAReduce(OpBuilder &builder, SM90TMAReduceType operation, const CopyCall &call) {
  if (failed(checkTile(operation, call, call.destination, call.source)))
    return failure();
  auto origin = originOf(builder, call, call.destination, operation.getBox().size());
  if (failed(origin))
    return failure();
  auto kind = NVVM::symbolizeTMAReduxKind(operation.getKind());
  NVVM::CpAsyncBulkTensorReduceOp::create(builder, call.loc(), mapOf(builder, call),
                                          call.source.converted, *kind, NVVM::TMAStoreMode::TILE,
                                          *origin, /*l2CacheHint=*/Value());
  return Value();
}

namespace {

/// An atom of a tensor map, which is the operand.
struct MakeTensorCopyLowering : OpConversionPattern<MakeCopyAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeCopyAtomOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = op.getResult().getType().getCopyOp();
    if (!isa<SM90TMALoadType, SM90TMAStoreType, SM90TMAReduceType>(operation))
      return failure();
    auto map = op.getArgs().size() == 1 ? dyn_cast<TensorMapType>(op.getArgs().front().getType())
                                        : TensorMapType();
    auto fits = [&](auto copy) {
      return copy && map && copy.getBox() == map.getBox() && copy.getElem() == map.getElem() &&
             copy.getSwizzle() == map.getSwizzle();
    };
    if (!fits(dyn_cast<SM90TMALoadType>(operation)) &&
        !fits(dyn_cast<SM90TMAStoreType>(operation)) &&
        !fits(dyn_cast<SM90TMAReduceType>(operation)))
      return op.emitError("the atom ") << operation << " is made of a tensor map of its box, "
                                       << "elements and swizzle";
    Location loc = op.getLoc();
    Value address = TensorMapAddressOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(op.getContext()), adaptor.getArgs().front());
    Value state = zeroState(rewriter, loc, operation);
    const auto last = static_cast<int64_t>(getAtomStateType(operation).getBody().size()) - 1;
    rewriter.replaceOp(op, writeField(rewriter, loc, state, last, address));
    return success();
  }
};

} // namespace

void populateTensorCopyPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  const PatternBenefit own = 2; // Before the patterns of all atoms.
  patterns.add<MakeTensorCopyLowering>(converter, patterns.getContext(), own);
}

} // namespace fly::nvvm
