// SPDX-License-Identifier: Apache-2.0
//
// gfx1250.tdm: a tensor copy whose geometry comes from the memref in global memory.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomState.h"
#include "AtomCalls.h"
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
  /// The coordinate at which this wave's block starts, per dimension.
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
  SmallVector<Value> starts;
  Value rest = waveId(builder, loc);
  for (auto [number, block] : llvm::zip_equal(counts, blocks)) {
    Value count = constantI32(builder, loc, number);
    Value coordinate = arith::RemUIOp::create(builder, loc, rest, count);
    rest = arith::DivUIOp::create(builder, loc, rest, count);
    starts.push_back(
        arith::MulIOp::create(builder, loc, coordinate, constantI32(builder, loc, block)));
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
             << " elements at " << bits
             << "-bit) is not encodable \u2014 the dword interval must be "
             << "a power of two and the encoded fields must fit the descriptor bitfield: an "
             << "interval of 2 to 256 dwords, an amount of 1 to 128";
  }

  SmallVector<int64_t> counts = splitWarps(*extents, operation.getNumWarps());
  SmallVector<int64_t> blocks;
  for (auto [extent, count] : llvm::zip_equal(*extents, counts))
    blocks.push_back(llvm::divideCeil(extent, count));

  // LDS is compact and row-major, its rows lengthened by the padding.
  SmallVector<int64_t> ldsStrides(rank, 1);
  for (int32_t dim = rank - 2; dim >= 0; --dim) {
    int64_t row = (*extents)[dim + 1];
    if (padded && dim == rank - 2)
      row += operation.getPadAmount();
    ldsStrides[dim] = ldsStrides[dim + 1] * row;
  }

  // Everything is emitted in the order of the descriptor's words.
  const WordConstants constants(builder, loc);
  SmallVector<Value> sizes;
  for (int32_t dim = 0; dim < rank; ++dim)
    sizes.push_back(readField(builder, loc, call.state, extentField + dim));
  SmallVector<Value> strides;
  for (int32_t dim = 0; dim < rank; ++dim)
    strides.push_back(globalStride(dim));
  Value base = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), global().converted);
  descriptor.globalAddress = arith::AddIOp::create(
      builder, loc, base, readField(builder, loc, call.state, immOffsetField));
  descriptor.ldsAddress =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), shared().converted);

  SmallVector<Value> starts(rank, constants.zero);
  if (operation.getNumWarps() != 1) {
    starts = blockStarts(counts, blocks);
    Value globalElements = constantI64(builder, loc, 0);
    Value ldsElements = constants.zero;
    for (int32_t dim = 0; dim < rank; ++dim) {
      Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), starts[dim]);
      globalElements = arith::AddIOp::create(
          builder, loc, globalElements, arith::MulIOp::create(builder, loc, wide, strides[dim]));
      Value ldsStride = constantI32(builder, loc, ldsStrides[dim]);
      ldsElements = arith::AddIOp::create(
          builder, loc, ldsElements, arith::MulIOp::create(builder, loc, starts[dim], ldsStride));
    }
    Value globalBytes =
        arith::MulIOp::create(builder, loc, globalElements, constantI64(builder, loc, bits / 8));
    descriptor.globalAddress =
        arith::AddIOp::create(builder, loc, descriptor.globalAddress, globalBytes);
    Value ldsBytes =
        arith::MulIOp::create(builder, loc, ldsElements, constantI32(builder, loc, bits / 8));
    descriptor.ldsAddress = arith::AddIOp::create(builder, loc, descriptor.ldsAddress, ldsBytes);
  }

  descriptor.workgroupMask = [&] { return readField(builder, loc, call.state, maskField); };
  descriptor.tensorSize = [&](size_t dim) -> Value {
    const size_t outer = rank - 1 - dim;
    Value left = arith::SubIOp::create(builder, loc, sizes[outer], starts[outer]);
    return arith::MaxSIOp::create(builder, loc, left, constants.zero);
  };
  for (int32_t dim = rank - 1; dim >= 0; --dim) {
    descriptor.tileSizes.push_back(blocks[dim]);
    if (dim != rank - 1)
      descriptor.strides.push_back(strides[dim]);
  }
  emitTensorMove(builder, loc, constants, descriptor, isLoad);
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
