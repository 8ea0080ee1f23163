// SPDX-License-Identifier: Apache-2.0
//
// cdna5.tensor_load and cdna5.tensor_store: tensor copies whose geometry is in the atom.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomState.h"
#include "../FlyToLLVM/TypeConverter.h"
#include "AtomCalls.h"
#include "ROCDLDevice.h"
#include "TensorDescriptor.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

/// Positions in the state struct, which loads begin with two fields of their own. Strides, extents
/// and flags are outermost first.
struct StateSlots {
  int64_t barrier;
  int64_t base;
  int64_t strides;
  int64_t extents;
  int64_t flags;

  explicit StateSlots(Type operation) {
    barrier = isa<CDNA5TensorLoadType>(operation) ? 2 : 0;
    base = barrier + 1;
    strides = base + 1;
    extents = strides + 4;
    flags = extents + 5;
  }
};
constexpr int64_t loadMaskField = 0;
constexpr int64_t loadTimeoutField = 1;

ArrayRef<int32_t> boxShape(Type operation) {
  if (auto load = dyn_cast<CDNA5TensorLoadType>(operation))
    return load.getShape();
  return cast<CDNA5TensorStoreType>(operation).getShape();
}

} // namespace

/// The state of a new atom: `arguments` are the base pointer, the strides (i64, outermost first,
/// one less than the rank) and the extents (i32, one per dimension). Another number or kind of
/// arguments is diagnosed.
static FailureOr<Value> buildTensorState(OpBuilder &builder, MakeCopyAtomOp op, Type operation,
                                         ValueRange arguments) {
  size_t rank = boxShape(operation).size();
  auto isWidth = [](unsigned width) {
    return [width](Value value) { return value.getType().isInteger(width); };
  };
  if (arguments.size() != 2 * rank || !isa<LLVM::LLVMPointerType>(arguments.front().getType()) ||
      !llvm::all_of(arguments.slice(1, rank - 1), isWidth(64)) ||
      !llvm::all_of(arguments.drop_front(rank), isWidth(32)))
    return op.emitError("this atom is built from a tensor and needs its construction arguments "
                        "(base, strides, extents)");
  StateSlots slots(operation);
  Location loc = op.getLoc();
  Value state = zeroState(builder, loc, operation);
  state = writeField(builder, loc, state, slots.base, arguments.front());
  for (auto [index, stride] : llvm::enumerate(arguments.slice(1, rank - 1)))
    state = writeField(builder, loc, state, slots.strides + index, stride);
  for (auto [index, extent] : llvm::enumerate(arguments.drop_front(rank)))
    state = writeField(builder, loc, state, slots.extents + index, extent);
  return state;
}

/// Whether `field` of `operation` is the tuple of boundary flags.
static bool isTensorAxesField(Type operation, StringRef field) {
  return isa<CDNA5TensorLoadType, CDNA5TensorStoreType>(operation) &&
         field == "boundary_check_axes";
}

/// `state` with the boundary flags that `op` sets.
static FailureOr<Value> setBoundaryAxes(OpBuilder &builder, AtomSetValueOp op, Type operation,
                                        Value state) {
  size_t rank = boxShape(operation).size();
  auto type = dyn_cast<IntTupleType>(op.getValue().getType());
  auto made = op.getValue().getDefiningOp<MakeIntTupleOp>();
  if (!type || !made || type.getValue().rank() != rank)
    return op.emitError("boundary_check_axes takes one integer per dimension, ")
           << rank << ", got " << op.getValue().getType();
  StateSlots slots(operation);
  Location loc = op.getLoc();
  ValueRange leaves = made.getDynamicLeaves();
  for (auto [index, mode] : llvm::enumerate(type.getValue().modes())) {
    Value flag;
    if (mode.isStaticLeaf()) {
      flag = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(mode.staticValue() != 0));
    } else if (mode.isDynamicLeaf() && !leaves.empty()) {
      Value zero = arith::ConstantOp::create(builder, loc,
                                             builder.getIntegerAttr(leaves.front().getType(), 0));
      flag = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, leaves.front(), zero);
      leaves = leaves.drop_front();
    } else {
      return op.emitError("boundary_check_axes takes a flat tuple, got ") << type;
    }
    state = writeField(builder, loc, state, slots.flags + index, flag);
  }
  return state;
}

namespace {

/// The number of elements of a fully static layout.
std::optional<int64_t> staticSize(const AnyLayout &layout) {
  if (!layout.isStatic())
    return std::nullopt;
  int64_t size = 1;
  forEachLeaf(layout.outermost().shape(),
              [&](const IntTuple &leaf) { size *= leaf.staticValue(); });
  return size;
}

/// What both directions share. `coordinates` is the side in global memory, `shared` the one in LDS.
template <typename Atom>
CopyResult lowerTensorCopy(OpBuilder &builder, Atom operation, const CopyCall &call,
                           const CallOperand &coordinates, const CallOperand &shared,
                           TensorDescriptor descriptor, bool isLoad) {
  Location loc = call.loc();
  ArrayRef<int32_t> shape = operation.getShape();
  size_t rank = shape.size();
  if (call.resultType || !coordinates || !isa<CoordTensorType>(coordinates.original.getType()) ||
      !shared.isMemoryIn(AddressSpace::Shared))
    return failure();
  if (operation.getIterCount() != 1)
    return call.op->emitError("tensor copies with iterCount ")
           << operation.getIterCount() << " have no lowering: an atom does not say how far apart "
           << "its iterations are";
  int64_t elements = 1;
  for (int32_t extent : shape)
    elements *= extent;
  std::optional<int64_t> ldsElements = staticSize(shared.memref().getLayout());
  if (ldsElements != elements)
    return call.op->emitError("the tensor copy moves ")
           << elements << " elements, which the LDS tile must hold with a static layout; got "
           << shared.memref();
  auto origin = tileOrigin(builder, loc, coordinates.original, rank);
  if (!origin)
    return call.op->emitError("the coordinate tensor must start at a coordinate of ")
           << rank << " integers, got " << coordinates.original.getType();

  StateSlots slots(operation);
  descriptor.elementBits = getElementBitWidth(operation.getElem());
  descriptor.cachePolicy = operation.getCacheModifier();
  if (operation.getAtomicBarrier()) {
    descriptor.barrier = true;
    descriptor.barrierAddress = LLVM::PtrToIntOp::create(
        builder, loc, builder.getI32Type(), readField(builder, loc, call.state, slots.barrier));
  }
  descriptor.ldsAddress =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), shared.converted);

  Value base = readField(builder, loc, call.state, slots.base);
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), base);
  Value bytes = constantI64(builder, loc, descriptor.elementBits / 8);
  const WordConstants constants(builder, loc);
  Value zero = constants.zero;
  SmallVector<Value> sizes;
  for (size_t dim = 0; dim < rank; ++dim) { // Innermost first.
    size_t outer = rank - 1 - dim;
    Value start = (*origin)[dim];
    Value isNatural = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, start, zero);
    LLVM::AssumeOp::create(builder, loc, isNatural);

    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), start);
    if (dim != 0) {
      Value stride = readField(builder, loc, call.state, slots.strides + outer);
      descriptor.strides.push_back(stride);
      wide = arith::MulIOp::create(builder, loc, wide, stride);
    }
    address = arith::AddIOp::create(builder, loc, address,
                                    arith::MulIOp::create(builder, loc, wide, bytes));

    Value extent = readField(builder, loc, call.state, slots.extents + outer);
    Value left = arith::MaxSIOp::create(builder, loc,
                                        arith::SubIOp::create(builder, loc, extent, start), zero);
    Value checked = readField(builder, loc, call.state, slots.flags + outer);
    sizes.push_back(arith::SelectOp::create(builder, loc, checked, left, extent));
    descriptor.tileSizes.push_back(shape[outer]);
  }
  descriptor.globalAddress = address;
  descriptor.tensorSize = [&](size_t dim) { return sizes[dim]; };
  emitTensorMove(builder, loc, constants, descriptor, isLoad);
  return Value();
}

} // namespace

CopyResult lowerTensorLoad(OpBuilder &builder, CDNA5TensorLoadType operation,
                           const CopyCall &call) {
  TensorDescriptor descriptor;
  Value mask = readField(builder, call.loc(), call.state, loadMaskField);
  descriptor.workgroupMask = [mask] { return mask; };
  descriptor.earlyTimeout = readField(builder, call.loc(), call.state, loadTimeoutField);
  if (operation.getPadInterval() != 0) {
    int64_t bits = getElementBitWidth(operation.getElem());
    descriptor.padding = encodePadding(operation.getPadInterval(), operation.getPadAmount(), bits);
    if (!descriptor.padding)
      return call.op->emitError("padding (interval=")
             << operation.getPadInterval() << ", amount=" << operation.getPadAmount()
             << " elements at " << bits << "-bit) is not encodable";
  }
  return lowerTensorCopy(builder, operation, call, call.source, call.destination, descriptor,
                         /*isLoad=*/true);
}

CopyResult lowerTensorStore(OpBuilder &builder, CDNA5TensorStoreType operation,
                            const CopyCall &call) {
  return lowerTensorCopy(builder, operation, call, call.destination, call.source,
                         TensorDescriptor(), /*isLoad=*/false);
}

namespace {

bool isTensorCopy(Type operation) {
  return isa<CDNA5TensorLoadType, CDNA5TensorStoreType>(operation);
}

struct MakeTensorAtomLowering : OpConversionPattern<MakeCopyAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeCopyAtomOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = op.getResult().getType().getCopyOp();
    if (!isTensorCopy(operation))
      return failure();
    FailureOr<Value> state = buildTensorState(rewriter, op, operation, adaptor.getArgs());
    if (failed(state))
      return failure();
    rewriter.replaceOp(op, *state);
    return success();
  }
};

struct SetBoundaryAxesLowering : OpConversionPattern<AtomSetValueOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AtomSetValueOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = getAtomOperation(op.getAtom().getType());
    if (!isTensorAxesField(operation, op.getField()))
      return failure();
    FailureOr<Value> state = setBoundaryAxes(rewriter, op, operation, adaptor.getAtom());
    if (failed(state))
      return failure();
    rewriter.replaceOp(op, *state);
    return success();
  }
};

} // namespace

void populateTensorAtomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  // Before the patterns of all atoms.
  const PatternBenefit own = 2;
  patterns.add<MakeTensorAtomLowering, SetBoundaryAxesLowering>(converter, patterns.getContext(),
                                                                own);
}

} // namespace fly::rocdl
