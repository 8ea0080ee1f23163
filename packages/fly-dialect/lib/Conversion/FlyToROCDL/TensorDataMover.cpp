// SPDX-License-Identifier: Apache-2.0
//
// gfx1250.tdm: a tensor copy whose geometry comes from the memref in global memory (contract
// section 6.5).
#include "Addressing.h"
#include "AtomCalls.h"
#include "AtomState.h"
#include "TensorDescriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

/// Positions in the state struct; dimensions outermost first.
constexpr int64_t maskField = 0;
constexpr int64_t extentField = 1;
constexpr int64_t strideField = 6;
constexpr int64_t immOffsetField = 10;
/// A stride that was not set.
constexpr int64_t unsetStride = -0x80000000LL;

/// Static extents of the modes of `layout`, one per dimension; nothing unless there are `rank`
/// static leaves.
std::optional<SmallVector<int64_t>> tileExtents(const AnyLayout &layout, int32_t rank) {
  if (layout.isComposed() || static_cast<int32_t>(layout.plain().rank()) != rank)
    return std::nullopt;
  SmallVector<int64_t> extents;
  for (const IntTuple &mode : layout.plain().shape().modes()) {
    if (!mode.isStaticLeaf())
      return std::nullopt;
    extents.push_back(mode.staticValue());
  }
  return extents;
}

/// How many warps share each dimension: from the outermost on, each is halved while warps remain
/// and it is long enough. What is left over splits the innermost.
SmallVector<int64_t> splitWarps(ArrayRef<int64_t> extents, int64_t warps) {
  SmallVector<int64_t> counts(extents.size(), 1);
  for (auto [extent, count] : llvm::zip_equal(extents, counts))
    while (warps > 1 && count * 2 <= extent) {
      count *= 2;
      warps /= 2;
    }
  counts.back() *= warps;
  return counts;
}

/// The number of this wave in its workgroup; the same in all lanes, and known to be so.
Value waveId(OpBuilder &builder, Location loc) {
  Type i32 = builder.getI32Type();
  Value thread = ROCDL::ThreadIdXOp::create(builder, loc, i32);
  constexpr int32_t lanes = 32;
  Value wave = arith::DivUIOp::create(builder, loc, thread, constantI32(builder, loc, lanes));
  return ROCDL::ReadfirstlaneOp::create(builder, loc, i32, wave);
}

/// Emits the parts of one transfer.
class TransferBuilder {
public:
  TransferBuilder(OpBuilder &builder, GFX1250TDMType operation, const CopyCall &call)
      : builder(builder), loc(call.loc()), operation(operation), call(call),
        isLoad(call.source.isMemoryIn(AddressSpace::Global)) {}

  LogicalResult emit();

private:
  const CallOperand &global() const { return isLoad ? call.source : call.destination; }
  const CallOperand &shared() const { return isLoad ? call.destination : call.source; }

  /// Stride of dimension `dim` (outermost first) of the tensor in global memory, i64.
  Value globalStride(size_t dim);
  /// The coordinate at which this wave's block starts, per dimension; null where that is 0.
  SmallVector<Value> blockStarts(ArrayRef<int64_t> counts, ArrayRef<int64_t> blocks);

  OpBuilder &builder;
  Location loc;
  GFX1250TDMType operation;
  const CopyCall &call;
  bool isLoad;
};

} // namespace

Value TransferBuilder::globalStride(size_t dim) {
  if (dim + 1 == static_cast<size_t>(operation.getRank()))
    return constantI64(builder, loc, 1);
  Value stride = readField(builder, loc, call.state, strideField + dim);
  const IntTuple &own = global().memref().getLayout().plain().stride();
  if (!own.isStatic() || own.isLeaf() || !own.mode(dim).isStaticLeaf())
    return stride;
  Value unset = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stride,
                                      constantI64(builder, loc, unsetStride));
  return arith::SelectOp::create(builder, loc, unset,
                                 constantI64(builder, loc, own.mode(dim).staticValue()), stride);
}

SmallVector<Value> TransferBuilder::blockStarts(ArrayRef<int64_t> counts,
                                                ArrayRef<int64_t> blocks) {
  SmallVector<Value> starts(counts.size());
  if (operation.getNumWarps() == 1)
    return starts;
  Value rest = waveId(builder, loc);
  for (size_t dim = 0; dim < counts.size(); ++dim) {
    if (counts[dim] == 1)
      continue;
    Value count = constantI32(builder, loc, counts[dim]);
    Value coordinate = arith::RemUIOp::create(builder, loc, rest, count);
    rest = arith::DivUIOp::create(builder, loc, rest, count);
    starts[dim] =
        arith::MulIOp::create(builder, loc, coordinate, constantI32(builder, loc, blocks[dim]));
  }
  return starts;
}

LogicalResult TransferBuilder::emit() {
  int32_t rank = operation.getRank();
  Type element = global().memref().getElementType();
  int64_t bits = getElementBitWidth(element);
  auto extents = tileExtents(global().memref().getLayout(), rank);
  if (!extents)
    return call.op->emitError("gfx1250 TDM: the global tensor needs a plain layout of ")
           << rank << " static extents, got " << global().memref();
  if (bits < 8 || !llvm::isPowerOf2_64(bits))
    return call.op->emitError("gfx1250 TDM: elements must have 8, 16, 32 or 64 bits, got ")
           << element;
  TensorDescriptor descriptor;
  descriptor.elementBits = bits;
  descriptor.barrier = operation.getBarrier();
  descriptor.timeout = operation.getTimeout();
  descriptor.cachePolicy = operation.getCache();
  bool padded = operation.getPadInterval() != 0;
  if (padded) {
    descriptor.padding = encodePadding(operation.getPadInterval(), operation.getPadAmount(), bits);
    if (!descriptor.padding)
      return call.op->emitError("gfx1250 TDM: padding (interval=")
             << operation.getPadInterval() << ", amount=" << operation.getPadAmount()
             << " elements at " << bits << "-bit) is not encodable: the interval must be 2 to 256 "
             << "dwords, a power of two, and the amount 1 to 128 dwords";
  }

  SmallVector<int64_t> counts = splitWarps(*extents, operation.getNumWarps());
  SmallVector<int64_t> blocks;
  for (auto [extent, count] : llvm::zip_equal(*extents, counts))
    blocks.push_back(llvm::divideCeil(extent, count));
  SmallVector<Value> starts = blockStarts(counts, blocks);

  // LDS is compact and row-major, its rows lengthened by the padding.
  SmallVector<int64_t> ldsStrides(rank, 1);
  for (int32_t dim = rank - 2; dim >= 0; --dim) {
    int64_t row = (*extents)[dim + 1];
    if (padded && dim == rank - 2)
      row += operation.getPadAmount();
    ldsStrides[dim] = ldsStrides[dim + 1] * row;
  }

  Value globalElements;
  Value ldsElements;
  auto accumulate = [&](Value &sum, Value term) {
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
  };
  SmallVector<Value> strides;
  for (int32_t dim = 0; dim < rank; ++dim) {
    strides.push_back(globalStride(dim));
    if (!starts[dim])
      continue;
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), starts[dim]);
    accumulate(globalElements, arith::MulIOp::create(builder, loc, wide, strides[dim]));
    accumulate(ldsElements, arith::MulIOp::create(builder, loc, starts[dim],
                                                  constantI32(builder, loc, ldsStrides[dim])));
  }

  descriptor.globalAddress =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), global().converted);
  accumulate(descriptor.globalAddress, readField(builder, loc, call.state, immOffsetField));
  if (globalElements)
    accumulate(
        descriptor.globalAddress,
        arith::MulIOp::create(builder, loc, globalElements, constantI64(builder, loc, bits / 8)));
  descriptor.ldsAddress =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), shared().converted);
  if (ldsElements)
    accumulate(descriptor.ldsAddress, elementsToBytes(builder, loc, ldsElements, element));

  descriptor.workgroupMask = readField(builder, loc, call.state, maskField);
  for (int32_t dim = rank - 1; dim >= 0; --dim) {
    Value size = readField(builder, loc, call.state, extentField + dim);
    if (starts[dim])
      size = arith::SubIOp::create(builder, loc, size, starts[dim]);
    descriptor.tensorSizes.push_back(
        arith::MaxSIOp::create(builder, loc, size, constantI32(builder, loc, 0)));
    descriptor.tileSizes.push_back(blocks[dim]);
    if (dim != rank - 1)
      descriptor.strides.push_back(strides[dim]);
  }
  emitTensorMove(builder, loc, descriptor, isLoad);
  return success();
}

CopyResult lowerTDM(OpBuilder &builder, GFX1250TDMType operation, const CopyCall &call) {
  bool load = call.source.isMemoryIn(AddressSpace::Global) &&
              call.destination.isMemoryIn(AddressSpace::Shared);
  bool store = call.source.isMemoryIn(AddressSpace::Shared) &&
               call.destination.isMemoryIn(AddressSpace::Global);
  if ((!load && !store) || call.resultType)
    return failure();
  if (failed(TransferBuilder(builder, operation, call).emit()))
    return failure();
  return Value();
}

} // namespace fly::rocdl
