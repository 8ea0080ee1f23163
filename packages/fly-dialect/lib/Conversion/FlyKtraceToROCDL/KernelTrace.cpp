// SPDX-License-Identifier: Apache-2.0
#include "KernelTrace.h"

#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fly::ktrace {

using Builder = ImplicitLocOpBuilder;

namespace {

constexpr unsigned globalSpace = 1;
constexpr unsigned constantSpace = 4;
constexpr unsigned privateSpace = 5;

/// Operands of s_getreg: the register's number, from bit 0, as many bits as given.
constexpr int32_t hardwareRegister(int32_t number, int32_t bits) {
  return (bits - 1) << 11 | number;
}
constexpr int32_t hardwareIdRegister = hardwareRegister(4, 32);
constexpr int32_t xccIdRegister = hardwareRegister(20, 4);

/// The last word of a buffer resource: raw 32-bit data.
constexpr int32_t rawResource = 0x27000;

/// Bits of the word that describes a wave in its block; the block's z coordinate lies above.
constexpr int32_t waveNumberBits = 8;
constexpr int32_t laneBits = 6;

/// Where the launch's implicit kernel arguments (code object version 5 and later) hold the numbers
/// of blocks, 32 bits each, and those of threads in a block, 16 bits each.
constexpr int32_t gridSizeByte = 0, gridSizeBytes = 4;
constexpr int32_t blockSizeByte = 12, blockSizeBytes = 2;

} // namespace

static Value i32(Builder &builder, int32_t value) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
}

static Value intrinsic(Builder &builder, StringRef name, Type type, ValueRange arguments = {}) {
  return LLVM::CallIntrinsicOp::create(builder, type, builder.getStringAttr(name), arguments)
      .getResult(0);
}

/// A constant that an intrinsic wants as an immediate.
static Value immediate(Builder &builder, int32_t value) {
  return LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
}

static Value uniform(Builder &builder, Value value) {
  return ROCDL::ReadfirstlaneOp::create(builder, value.getType(), value);
}

static Value maximumOfLanes(Builder &builder, Value value) {
  constexpr int32_t defaultStrategy = 0;
  return uniform(builder, intrinsic(builder, "llvm.amdgcn.wave.reduce.umax", builder.getI32Type(),
                                    {value, immediate(builder, defaultStrategy)}));
}

static Value toI32(Builder &builder, Value index) {
  return arith::IndexCastOp::create(builder, builder.getI32Type(), index);
}

static Value addressOf(Builder &builder, Value pointer, LLVM::GEPArg byte) {
  return LLVM::GEPOp::create(builder, pointer.getType(), builder.getI8Type(), pointer, byte);
}

/// Bits 31:0 and 63:32.
static std::pair<Value, Value> halves(Builder &builder, Value value) {
  Value shift = arith::ConstantOp::create(builder, builder.getI64IntegerAttr(32));
  Value high = arith::ShRUIOp::create(builder, value, shift);
  Type word = builder.getI32Type();
  return {arith::TruncIOp::create(builder, word, value),
          arith::TruncIOp::create(builder, word, high)};
}

static Value fourWords(Builder &builder, ValueRange words) {
  auto type = VectorType::get(4, builder.getI32Type());
  return vector::FromElementsOp::create(builder, type, words);
}

/// A scalar store, which all lanes of a wave do as one. LLVM has no intrinsic for it.
static void storeWords(Builder &builder, StringRef mnemonic, Value words, Value resource,
                       Value byte) {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  LLVM::InlineAsmOp::create(builder, /*resultTypes=*/TypeRange(),
                            /*operands=*/ValueRange{words, resource, byte},
                            /*asm_string=*/(mnemonic + " $0, $1, $2").str(),
                            /*constraints=*/"s,s,s", /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect,
                            /*operand_attrs=*/ArrayAttr());
}

/// Stores a slot whose first byte is `byte`.
static void storeSlot(Builder &builder, ValueRange words, Value resource, Value byte) {
  constexpr StringRef mnemonic = "s_buffer_store_dwordx4";
  storeWords(builder, mnemonic, fourWords(builder, words.take_front(4)), resource, byte);
  Value second = arith::AddIOp::create(builder, byte, i32(builder, halfSlotBytes));
  storeWords(builder, mnemonic, fourWords(builder, words.drop_front(4)), resource, second);
}

static Value incremented(Builder &builder, Value pointer) {
  return LLVM::AtomicRMWOp::create(builder, LLVM::AtomicBinOp::add, pointer, i32(builder, 1),
                                   LLVM::AtomicOrdering::monotonic);
}

static Value implicitArgument(Builder &builder, int32_t byte, int32_t bytes) {
  Type pointerType = LLVM::LLVMPointerType::get(builder.getContext(), constantSpace);
  Value arguments = intrinsic(builder, "llvm.amdgcn.implicitarg.ptr", pointerType);
  Value value = LLVM::LoadOp::create(builder, builder.getIntegerType(8 * bytes),
                                     addressOf(builder, arguments, byte), bytes);
  if (bytes < 4)
    value = arith::ExtUIOp::create(builder, builder.getI32Type(), value);
  return value;
}

static Value gridSize(Builder &builder, gpu::Dimension dimension) {
  return implicitArgument(builder, gridSizeByte + static_cast<int32_t>(dimension) * gridSizeBytes,
                          gridSizeBytes);
}

static Value blockSize(Builder &builder, gpu::GPUFuncOp kernel, gpu::Dimension dimension) {
  auto axis = static_cast<int32_t>(dimension);
  if (std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize())
    return i32(builder, (*known)[axis]);
  return implicitArgument(builder, blockSizeByte + axis * blockSizeBytes, blockSizeBytes);
}

/// (z * size y + y) * size x + x.
static Value linearized(Builder &builder, const Value (&coordinate)[3], Value sizeX, Value sizeY) {
  Value rows = arith::AddIOp::create(builder, arith::MulIOp::create(builder, coordinate[2], sizeY),
                                     coordinate[1]);
  return arith::AddIOp::create(builder, arith::MulIOp::create(builder, rows, sizeX), coordinate[0]);
}

constexpr gpu::Dimension dimensions[] = {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z};

// --- the entry -----------------------------------------------------------------------------------

KernelTrace::KernelTrace(gpu::GPUFuncOp kernel, const TraceOptions &options) : kernel(kernel) {
  Block &entry = kernel.getBody().front();
  auto builder = Builder::atBlockBegin(kernel.getLoc(), &entry);
  MLIRContext *context = builder.getContext();
  buffer = ToLLVMPtrOp::create(builder, LLVM::LLVMPointerType::get(context, globalSpace),
                               entry.getArguments().back(), builder.getI32IntegerAttr(globalSpace));
  counter = LLVM::AllocaOp::create(builder, LLVM::LLVMPointerType::get(context, privateSpace),
                                   builder.getI32Type(), i32(builder, 1));
  LLVM::StoreOp::create(builder, i32(builder, 0), counter);
  for (gpu::Dimension dimension : dimensions)
    block[static_cast<int>(dimension)] = toI32(builder, gpu::BlockIdOp::create(builder, dimension));
  constexpr StringRef readRegister = "llvm.amdgcn.s.getreg";
  hardwareId = intrinsic(builder, readRegister, builder.getI32Type(),
                         immediate(builder, hardwareIdRegister));
  xccId = intrinsic(builder, readRegister, builder.getI32Type(), immediate(builder, xccIdRegister));
  dispatchId = intrinsic(builder, "llvm.amdgcn.dispatch.id", builder.getI64Type());

  countLaunch(builder);
  claimSlots(builder, options);
  describeWave(builder);
}

/// Counts the launch in its first thread, and finds the number of the wave on the way.
void KernelTrace::countLaunch(Builder &builder) {
  Value thread[3];
  for (gpu::Dimension dimension : dimensions)
    thread[static_cast<int>(dimension)] =
        toI32(builder, gpu::ThreadIdOp::create(builder, dimension));
  Value linear = linearized(builder, thread, blockSize(builder, kernel, gpu::Dimension::x),
                            blockSize(builder, kernel, gpu::Dimension::y));
  wave = uniform(builder, arith::ShRUIOp::create(builder, linear, i32(builder, laneBits)));

  Value any = linear;
  for (Value coordinate : block)
    any = arith::OrIOp::create(builder, any, coordinate);
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, any, i32(builder, 0));
  scf::IfOp::create(builder, isFirst, [&](OpBuilder &inside, Location loc) {
    Builder then(loc, inside);
    incremented(then, addressOf(then, buffer, launchCounterByte));
    scf::YieldOp::create(then);
  });
}

/// Whether the wave is one of those that record; null if all are.
Value KernelTrace::records(Builder &builder, const TraceOptions &options) {
  auto equal = [&](Value value, int32_t wanted) -> Value {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value, i32(builder, wanted));
  };
  if (options.xcc)
    return equal(xccId, *options.xcc);
  if (!options.block)
    return {};
  Value all;
  for (auto [coordinate, wanted] : llvm::zip_equal(block, *options.block)) {
    Value one = equal(coordinate, wanted);
    all = all ? arith::AndIOp::create(builder, all, one) : one;
  }
  return all;
}

/// Takes the next run of slots from a counter. A wave that does not record, or that comes when no
/// slot is left, gets a resource of no bytes.
void KernelTrace::claimSlots(Builder &builder, const TraceOptions &options) {
  Value zero = i32(builder, 0);
  // Waves that start one after the other use counters in turn, and so do launches.
  Value partition = zero;
  if (options.partitions > 1) {
    Value blockNumber = linearized(builder, block, gridSize(builder, gpu::Dimension::x),
                                   gridSize(builder, gpu::Dimension::y));
    Value launch = arith::TruncIOp::create(builder, builder.getI32Type(), dispatchId);
    Value turn =
        arith::AddIOp::create(builder, arith::AddIOp::create(builder, blockNumber, wave), launch);
    auto mask = static_cast<int32_t>(options.partitions - 1);
    partition = arith::AndIOp::create(builder, turn, i32(builder, mask));
  }

  // At the entry, lane 0 is active in every wave.
  Value lane = toI32(builder, gpu::LaneIdOp::create(builder, IntegerAttr()));
  Value claims = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane, zero);
  Value recording = records(builder, options);
  if (recording)
    claims = arith::AndIOp::create(builder, claims, recording);
  auto claim = scf::IfOp::create(
      builder, claims,
      [&](OpBuilder &inside, Location loc) {
        Builder then(loc, inside);
        Value next = arith::AddIOp::create(then, partition, i32(then, 1));
        Value byte = arith::MulIOp::create(then, next, i32(then, waveCounterStride));
        scf::YieldOp::create(then, incremented(then, addressOf(then, buffer, byte)));
      },
      [&](OpBuilder &inside, Location loc) { scf::YieldOp::create(inside, loc, zero); });

  // Numbers are cut to that of the first run that is not there before they are multiplied.
  auto runs = static_cast<int32_t>(llvm::divideCeil(options.dataSlots(), slotsPerWave));
  Value end = i32(builder, runs);
  Value run = uniform(builder, claim.getResult(0));
  run = arith::MinUIOp::create(builder, run, end);
  if (options.partitions > 1) {
    auto partitions = static_cast<int32_t>(options.partitions);
    // The product of two numbers of runs and partitions, each at most that of slots, may exceed 32
    // bits; a run that is not there may not wrap around to one that is.
    int32_t perPartition = llvm::divideCeil(runs, partitions);
    run = arith::MinUIOp::create(builder, run, i32(builder, perPartition));
    run = arith::MulIOp::create(builder, run, i32(builder, partitions));
    run = arith::MinUIOp::create(builder, arith::AddIOp::create(builder, run, partition), end);
  }
  Value start = arith::MulIOp::create(builder, run, i32(builder, slotsPerWave));
  Value left = arith::SubIOp::create(
      builder, i32(builder, static_cast<int32_t>(options.dataSlots())), start);
  Value slots = arith::MinUIOp::create(builder, left, i32(builder, slotsPerWave));
  Value isThere = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, run, end);
  if (recording)
    isThere = arith::AndIOp::create(builder, isThere, recording);
  slots = arith::SelectOp::create(builder, isThere, slots, zero);
  Value bytes = arith::MulIOp::create(builder, slots, i32(builder, slotBytes));

  auto first = static_cast<int32_t>(firstWaveSlot(options.partitions));
  firstSlot = uniform(builder, arith::AddIOp::create(builder, start, i32(builder, first)));
  Value firstByte = arith::MulIOp::create(builder, firstSlot, i32(builder, slotBytes));
  Value address = LLVM::PtrToIntOp::create(builder, builder.getI64Type(),
                                           addressOf(builder, buffer, firstByte));
  auto [low, high] = halves(builder, address);
  high = arith::AndIOp::create(builder, high, i32(builder, 0xffff));
  resource = fourWords(builder, {uniform(builder, low), uniform(builder, high),
                                 uniform(builder, bytes), i32(builder, rawResource)});
}

void KernelTrace::describeWave(Builder &builder) {
  Value queue = intrinsic(builder, "llvm.amdgcn.queue.ptr",
                          LLVM::LLVMPointerType::get(builder.getContext(), constantSpace));
  auto [queueLow, queueHigh] =
      halves(builder, LLVM::PtrToIntOp::create(builder, builder.getI64Type(), queue));
  auto [dispatchLow, dispatchHigh] = halves(builder, dispatchId);
  Value z = arith::ShLIOp::create(builder, block[2], i32(builder, waveNumberBits));
  Value position = arith::OrIOp::create(builder, z, wave);
  Value zero = i32(builder, 0);
  storeSlot(builder,
            {zero, position, dispatchLow, dispatchHigh, queueLow, queueHigh, block[0], block[1]},
            resource, zero);
}

// --- events --------------------------------------------------------------------------------------

Value KernelTrace::countedEvents(Builder &builder) {
  return maximumOfLanes(builder, LLVM::LoadOp::create(builder, builder.getI32Type(), counter));
}

void KernelTrace::joinCounts(Builder &builder) {
  LLVM::StoreOp::create(builder, countedEvents(builder), counter);
}

/// Stores event number `count`; outside of the wave's slots, where it is dropped, unless
/// `isActive`. Returns the number of its slot among the wave's.
Value KernelTrace::storeEvent(Builder &builder, uint32_t tag, Value payload, Value count,
                              Value token, Value isActive) {
  Value time = intrinsic(builder, "llvm.amdgcn.s.memrealtime", builder.getI64Type());
  auto [timeLow, timeHigh] = halves(builder, time);
  Value payloadLow = i32(builder, 0);
  Value payloadHigh = payloadLow;
  if (payload)
    std::tie(payloadLow, payloadHigh) = halves(builder, uniform(builder, payload));

  Value slot = arith::MinUIOp::create(builder, count, i32(builder, eventsPerWave));
  slot = arith::AddIOp::create(builder, slot, i32(builder, 1));
  Value byte = arith::MulIOp::create(builder, slot, i32(builder, slotBytes));
  if (isActive)
    byte = arith::SelectOp::create(builder, isActive, byte, i32(builder, slotsPerWave * slotBytes));
  Value tagWord = i32(builder, static_cast<int32_t>(tag));
  storeSlot(builder,
            {timeLow, timeHigh, payloadLow, payloadHigh, hardwareId, xccId, tagWord, token},
            resource, byte);
  return slot;
}

Value KernelTrace::recordEvent(Builder &builder, uint32_t tag, Value payload) {
  Value count = countedEvents(builder);
  LLVM::StoreOp::create(builder, arith::AddIOp::create(builder, count, i32(builder, 1)), counter);
  Value slot = storeEvent(builder, tag, payload, count, i32(builder, 0), {});
  return arith::AddIOp::create(builder, firstSlot, slot);
}

void KernelTrace::recordStop(Builder &builder, uint32_t tag, Value payload, Value token) {
  Value started = maximumOfLanes(builder, token);
  Value isActive =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, started, i32(builder, 0));
  Value count = countedEvents(builder);
  Value step = arith::ExtUIOp::create(builder, builder.getI32Type(), isActive);
  LLVM::StoreOp::create(builder, arith::AddIOp::create(builder, count, step), counter);
  storeEvent(builder, tag, payload, count, started, isActive);
}

void KernelTrace::finish(Builder &builder) {
  storeWords(builder, "s_buffer_store_dword", countedEvents(builder), resource, i32(builder, 0));
  // Scalar stores stay in the scalar cache until it is told to write them.
  LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr("llvm.amdgcn.s.dcache.wb"),
                                ValueRange());
}

} // namespace fly::ktrace
