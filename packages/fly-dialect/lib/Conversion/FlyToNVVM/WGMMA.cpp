// SPDX-License-Identifier: Apache-2.0
//
// Products of a warpgroup, and what orders them. LLVM has no intrinsics of them, so that they are
// inline assembly, tied to the registers of their accumulators.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomState.h"
#include "AtomCalls.h"
#include "NVVMDevice.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyNVVM/IR/SharedTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {
namespace {

/// The type that a register of a vector has in assembly: f32, or 32 bits.
Type registerType(VectorType type) {
  MLIRContext *context = type.getContext();
  if (type.getElementType().isF32())
    return Float32Type::get(context);
  return IntegerType::get(context, 32);
}

StringRef constraintOf(Type registerType) { return registerType.isF32() ? "f" : "r"; }

/// The registers of a vector, and the other way round.
SmallVector<Value> toRegisters(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  Type word = registerType(type);
  const int64_t words = bitWidthOf(type) / 32;
  vector = reinterpret(builder, loc, vector, VectorType::get({words}, word));
  SmallVector<Value> registers;
  for (int64_t i = 0; i != words; ++i)
    registers.push_back(
        LLVM::ExtractElementOp::create(builder, loc, vector, constantI32(builder, loc, i)));
  return registers;
}

Value fromStruct(OpBuilder &builder, Location loc, Value registers, VectorType type) {
  Type word = registerType(type);
  const int64_t words = bitWidthOf(type) / 32;
  auto wordsType = VectorType::get({words}, word);
  Value vector = LLVM::PoisonOp::create(builder, loc, wordsType);
  for (int64_t i = 0; i != words; ++i) {
    // The result of assembly with one output is no struct.
    Value one = words == 1
                    ? registers
                    : LLVM::ExtractValueOp::create(builder, loc, registers, ArrayRef<int64_t>{i})
                          .getResult();
    vector = LLVM::InsertElementOp::create(builder, loc, vector, one, constantI32(builder, loc, i));
  }
  return reinterpret(builder, loc, vector, type);
}

/// Assembly that takes `accumulators` and gives them, as operands 0 and up, and takes `inputs`
/// behind them, each as the constraint beside it.
Value emitOnAccumulators(OpBuilder &builder, Location loc, const Twine &assembly,
                         Value accumulators, ArrayRef<std::pair<Value, StringRef>> inputs = {},
                         StringRef clobbers = "") {
  auto type = cast<VectorType>(accumulators.getType());
  SmallVector<Value> operands = toRegisters(builder, loc, accumulators);
  const size_t count = operands.size();
  Type word = registerType(type);
  std::string constraints;
  for (size_t i = 0; i != count; ++i)
    constraints += ("=" + constraintOf(word) + ",").str();
  for (size_t i = 0; i != count; ++i)
    constraints += std::to_string(i) + ",";
  for (const auto &[value, constraint] : inputs) {
    operands.push_back(value);
    constraints += (constraint + ",").str();
  }
  constraints += clobbers;
  if (clobbers.empty())
    constraints.pop_back();
  Type result = count == 1 ? word
                           : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                                   SmallVector<Type>(count, word)));
  Value registers =
      LLVM::InlineAsmOp::create(builder, loc, result, operands, assembly.str(), constraints,
                                /*has_side_effects=*/true, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return fromStruct(builder, loc, registers, type);
}

StringRef ptxName(Type element) {
  if (isa<FloatTF32Type>(element))
    return "tf32";
  if (isa<Float8E4M3FNType>(element))
    return "e4m3";
  if (isa<Float8E5M2Type>(element))
    return "e5m2";
  if (element.isBF16())
    return "bf16";
  if (element.isF16())
    return "f16";
  if (element.isF32())
    return "f32";
  return element.isInteger(8) ? "s8" : "s32";
}

/// `{$first, ..., $(first + count - 1)}`
std::string operandList(size_t first, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i != count; ++i)
    text += (i == 0 ? "$" : ", $") + std::to_string(first + i);
  return text + "}";
}

/// An address in shared memory, in the 16 bytes that descriptors count: an i32 and a constant.
struct SharedAddress {
  Value units;
  int64_t constant = 0;
};

constexpr int64_t unitBytes = 16;

Value addI32(OpBuilder &builder, Location loc, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AddIOp::create(builder, loc, left, right);
}

/// `index` times `bytes` in units, where that is whole for every index of its form.
std::optional<SharedAddress> inUnits(OpBuilder &builder, Location loc, Value index, int64_t bytes) {
  APInt known;
  if (matchPattern(index, m_ConstantInt(&known))) {
    const int64_t distance = known.getSExtValue() * bytes;
    if (distance % unitBytes == 0)
      return SharedAddress{Value(), distance / unitBytes};
    return std::nullopt;
  }
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    std::optional<SharedAddress> left = inUnits(builder, loc, sum.getLhs(), bytes);
    std::optional<SharedAddress> right = inUnits(builder, loc, sum.getRhs(), bytes);
    if (left && right)
      return SharedAddress{addI32(builder, loc, left->units, right->units),
                           left->constant + right->constant};
  }
  if (auto product = index.getDefiningOp<arith::MulIOp>();
      product && matchPattern(product.getRhs(), m_ConstantInt(&known)))
    if (auto found = inUnits(builder, loc, product.getLhs(), known.getSExtValue() * bytes))
      return found;
  if (bytes % unitBytes != 0)
    return std::nullopt;
  Value factor = constantI32(builder, loc, bytes / unitBytes);
  return SharedAddress{arith::MulIOp::create(builder, loc, asI32(builder, loc, index), factor)};
}

/// The address that `pointer`, which begins a tile, is. What is added to a pointer is added in
/// units: tiles side by side then have descriptors that differ by a constant, which costs one
/// addition, and not by what a shift and a mask of an address make of it.
SharedAddress sharedAddress(OpBuilder &builder, Location loc, Value pointer) {
  if (auto gep = pointer.getDefiningOp<LLVM::GEPOp>(); gep && gep.getIndices().size() == 1) {
    const int64_t bytes = bitWidthOf(gep.getElemType()) / 8;
    auto index = *gep.getIndices().begin();
    std::optional<SharedAddress> offset;
    if (auto constant = dyn_cast<IntegerAttr>(index)) {
      if (constant.getInt() * bytes % unitBytes == 0)
        offset = SharedAddress{Value(), constant.getInt() * bytes / unitBytes};
    } else {
      offset = inUnits(builder, loc, cast<Value>(index), bytes);
    }
    if (offset && bytes != 0) {
      SharedAddress base = sharedAddress(builder, loc, gep.getBase());
      return {addI32(builder, loc, base.units, offset->units), base.constant + offset->constant};
    }
  }
  constexpr int32_t unitBits = 4;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
  return {arith::ShRUIOp::create(builder, loc, address, constantI32(builder, loc, unitBits))};
}

/// The descriptor of the tile that `pointer` begins. An address has 18 bits, 14 in units.
FailureOr<Value> descriptorOf(OpBuilder &builder, Operation *op, fly::MemRefType memref,
                              Value pointer, int32_t extent, int32_t k, bool mnMajor) {
  if (!memref || !memref.isInSpace(fly::AddressSpace::Shared))
    return op->emitError("an operand that wgmma reads in memory must lie in shared memory");
  llvm::Expected<SharedTile> tile = describeSharedTile(memref, extent, k, mnMajor);
  if (!tile)
    return op->emitError(llvm::toString(tile.takeError()));
  Location loc = op->getLoc();
  SharedAddress address = sharedAddress(builder, loc, pointer);
  if (address.constant < 0) // The bits of an address may not reach those behind them.
    address = {addI32(builder, loc, address.units, constantI32(builder, loc, address.constant))};
  Value units = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), address.units);
  Value fields = constantI64(builder, loc, static_cast<int64_t>(tile->descriptor()));
  Value descriptor = arith::OrIOp::create(builder, loc, units, fields);
  if (address.constant != 0)
    descriptor = arith::AddIOp::create(builder, loc, descriptor,
                                       constantI64(builder, loc, address.constant));
  return descriptor;
}

/// The product that `product` can share its assembly with: the next one of the same kind that adds
/// to its sums, which nothing else uses, without anything in between that others could see.
Operation *nextOnSums(Operation *product) {
  auto call = dyn_cast<MmaAtomCallSSAOp>(product);
  Value sums = call ? call.getResult() : Value();
  if (!sums || !sums.hasOneUse())
    return nullptr;
  auto next = dyn_cast<MmaAtomCallSSAOp>(*sums.user_begin());
  if (!next || next.getC() != sums || next->getBlock() != call->getBlock() ||
      next.getAtom().getType() != call.getAtom().getType() || !next.getResult())
    return nullptr;
  for (Operation *between = call->getNextNode(); between != next; between = between->getNextNode())
    if (!isMemoryEffectFree(between))
      return nullptr;
  return next;
}

} // namespace

FailureOr<Value> lowerWGMMA(OpBuilder &builder, SM90WGMMAType operation, const MmaCall &call,
                            OpenProducts &open) {
  Location loc = call.loc();
  auto accumulators = dyn_cast<VectorType>(call.c.getType());
  const int32_t bits = getElementBitWidth(operation.getElemTyAcc());
  if (!accumulators || bitWidthOf(accumulators) != int64_t(operation.getN()) / 2 * bits)
    return call.op->emitError("the accumulators of ")
           << Type(operation) << " are " << operation.getN() / 2
           << " registers side by side: make the fragment with make_fragment_C";
  const size_t count = bitWidthOf(accumulators) / 32;

  Products products = open.take(call.op);
  SmallVectorImpl<std::pair<Value, StringRef>> &inputs = products.inputs;
  std::string a;
  size_t next = 2 * count + inputs.size();
  if (operation.getRegistersA()) {
    auto type = dyn_cast<VectorType>(call.a.front().getType());
    constexpr size_t wordsOfA = 4;
    if (!type || bitWidthOf(type) != int64_t(32 * wordsOfA))
      return call.op->emitError("A of ") << Type(operation) << " is 4 registers of a thread";
    auto words = VectorType::get({int64_t(wordsOfA)}, builder.getI32Type());
    Value value = reinterpret(builder, loc, call.a.front(), words);
    for (Value word : toRegisters(builder, loc, value))
      inputs.push_back({word, "r"});
    a = operandList(next, wordsOfA);
    next += wordsOfA;
  } else {
    FailureOr<Value> descriptor =
        descriptorOf(builder, call.op, call.memoryA, call.a.front(), operation.getM(),
                     operation.getK(), operation.getMnMajorA());
    if (failed(descriptor))
      return failure();
    inputs.push_back({*descriptor, "l"});
    a = "$" + std::to_string(next++);
  }
  FailureOr<Value> descriptor =
      descriptorOf(builder, call.op, call.memoryB, call.b.front(), operation.getN(),
                   operation.getK(), operation.getMnMajorB());
  if (failed(descriptor))
    return failure();
  inputs.push_back({*descriptor, "l"});
  const std::string b = "$" + std::to_string(next++);
  Value accumulate = readField(builder, loc, call.state, 0);
  inputs.push_back({arith::ExtUIOp::create(builder, loc, builder.getI32Type(), accumulate), "r"});
  const std::string flag = "$" + std::to_string(next);

  llvm::raw_string_ostream text(products.assembly);
  if (!products.assembly.empty())
    text << '\n';
  text << "{ .reg .pred p; setp.ne.b32 p, " << flag << ", 0; wgmma.mma_async.sync.aligned.m"
       << operation.getM() << 'n' << operation.getN() << 'k' << operation.getK() << '.'
       << ptxName(operation.getElemTyAcc()) << '.' << ptxName(operation.getElemTyA()) << '.'
       << ptxName(operation.getElemTyB()) << ' ' << operandList(0, count) << ", " << a << ", " << b
       << ", p";
  if (!operation.getElemTyAcc().isInteger(32))
    text << ", 1, 1"; // Neither A nor B is negated.
  if (operation.getElemTyA().getIntOrFloatBitWidth() == 16) {
    if (!operation.getRegistersA())
      text << ", " << int(operation.getMnMajorA());
    text << ", " << int(operation.getMnMajorB());
  }
  text << "; }";
  if (Operation *other = nextOnSums(call.op)) {
    open.leave(other, std::move(products));
    return call.c;
  }
  return emitOnAccumulators(builder, loc, products.assembly, call.c, inputs);
}

namespace {

// The accumulators that a fence or a wait gives are others to LLVM than those it takes: their uses
// stay behind it, and what writes them stays before.
constexpr StringLiteral memory = "~{memory}";

struct FenceLowering : OpConversionPattern<WGMMAFenceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WGMMAFenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitOnAccumulators(rewriter, op.getLoc(), "wgmma.fence.sync.aligned;",
                                              adaptor.getAccumulators(), {}, memory));
    return success();
  }
};

struct CommitLowering : OpConversionPattern<WGMMACommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WGMMACommitOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
    return success();
  }
};

struct WaitLowering : OpConversionPattern<WGMMAWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WGMMAWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, emitOnAccumulators(rewriter, op.getLoc(),
                               "wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";",
                               adaptor.getAccumulators(), {}, memory));
    return success();
  }
};

} // namespace

void populateWGMMAPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FenceLowering, CommitLowering, WaitLowering>(converter, patterns.getContext());
}

} // namespace fly::nvvm
