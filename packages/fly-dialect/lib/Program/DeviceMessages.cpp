// SPDX-License-Identifier: Apache-2.0
//
// What kernels print and assert: records in a buffer of the runtime's, whose format is in
// messages.h of fly-runtime. The buffer is found through a global of the code object, so that
// neither the kernel's nor the launcher's signature knows of it.

#include "MessageTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace fly {

using Builder = ImplicitLocOpBuilder;

namespace {

constexpr unsigned globalSpace = 1;

/// The global that the runtime writes the buffer's address to, or 0 when there is none.
constexpr StringLiteral bufferSymbol = "__flydsl_print";
constexpr StringLiteral reserveSymbol = "__flydsl_reserve";

/// The buffer's head: words in use, capacity in words, messages that found no room; then the words.
constexpr int32_t capacityByte = 8, droppedByte = 16, recordsByte = 32;

/// What messages take that GPUs have by different names.
struct DeviceNames {
  StringRef scope; ///< of atomic operations: the whole device
  StringRef end;   ///< the intrinsic that ends what runs
};

DeviceNames namesFor(gpu::GPUModuleOp module) {
  // A target for an NVIDIA GPU is attached before this pass runs.
  if (ArrayAttr targets = module.getTargetsAttr();
      targets && llvm::any_of(targets, llvm::IsaPred<NVVM::NVVMTargetAttr>))
    return {"device", "llvm.nvvm.exit"};
  return {"agent", "llvm.amdgcn.endpgm"};
}

} // namespace

static Value i64(Builder &builder, int64_t value) {
  return LLVM::ConstantOp::create(builder, builder.getI64IntegerAttr(value));
}

static Value bytesBehind(Builder &builder, Value pointer, int32_t bytes) {
  return LLVM::GEPOp::create(builder, pointer.getType(), builder.getI8Type(), pointer,
                             LLVM::GEPArg(bytes));
}

static Value atomicAdd(Builder &builder, Value address, Value value, StringRef scope) {
  return LLVM::AtomicRMWOp::create(builder, LLVM::AtomicBinOp::add, address, value,
                                   LLVM::AtomicOrdering::monotonic, scope);
}

/// Defines `reserve(words)`, which returns the address of as many free words, or null where there
/// is no buffer or no room; what does not fit is counted. One atomic addition reserves.
static void defineReserve(gpu::GPUModuleOp module, StringRef scope) {
  Builder builder(UnknownLoc::get(module.getContext()), module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  const Type word64 = builder.getI64Type();
  const auto pointer = LLVM::LLVMPointerType::get(module.getContext(), globalSpace);
  LLVM::GlobalOp::create(builder, word64, /*isConstant=*/false, LLVM::Linkage::External,
                         bufferSymbol, builder.getI64IntegerAttr(0), /*alignment=*/8, globalSpace);
  auto reserve = LLVM::LLVMFuncOp::create(builder, reserveSymbol,
                                          LLVM::LLVMFunctionType::get(pointer, {word64}),
                                          LLVM::Linkage::Internal);
  reserve.setPassthroughAttr(builder.getStrArrayAttr({"noinline"}));

  Block *entry = reserve.addEntryBlock(builder);
  Block *ask = builder.createBlock(&reserve.getBody());
  Block *some = builder.createBlock(&reserve.getBody());
  Block *full = builder.createBlock(&reserve.getBody());
  Block *none = builder.createBlock(&reserve.getBody());

  builder.setInsertionPointToEnd(entry);
  Value null = LLVM::ZeroOp::create(builder, pointer);
  Value global = LLVM::AddressOfOp::create(builder, pointer, bufferSymbol);
  Value address = LLVM::LoadOp::create(builder, word64, global);
  Value off = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, address, i64(builder, 0));
  LLVM::CondBrOp::create(builder, off, none, ask);

  builder.setInsertionPointToEnd(ask);
  Value head = LLVM::IntToPtrOp::create(builder, pointer, address);
  Value words = entry->getArgument(0);
  Value start = atomicAdd(builder, head, words, scope);
  Value end = LLVM::AddOp::create(builder, start, words);
  Value capacity = LLVM::LoadOp::create(builder, word64, bytesBehind(builder, head, capacityByte));
  Value fits = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ule, end, capacity);
  LLVM::CondBrOp::create(builder, fits, some, full);

  builder.setInsertionPointToEnd(some);
  Value records = bytesBehind(builder, head, recordsByte);
  Value record =
      LLVM::GEPOp::create(builder, pointer, builder.getI32Type(), records, LLVM::GEPArg(start));
  LLVM::ReturnOp::create(builder, record);

  builder.setInsertionPointToEnd(full);
  atomicAdd(builder, bytesBehind(builder, head, droppedByte), i64(builder, 1), scope);
  LLVM::BrOp::create(builder, none);

  builder.setInsertionPointToEnd(none);
  LLVM::ReturnOp::create(builder, null);
}

/// A format of layout lowering with the conversions that the runtime is to use: two digits would
/// hide most of a float.
static std::string runtimeFormat(StringRef format) {
  std::string result;
  while (!format.empty()) {
    if (format.consume_front("%.2f")) {
      result += shortestFloat;
      continue;
    }
    const size_t taken = format.starts_with("%%") ? 2 : 1;
    result += format.take_front(taken);
    format = format.drop_front(taken);
  }
  return withUnsignedConversions(result);
}

/// Adds to the text of an assertion which thread it failed in.
static std::string assertionText(Builder &builder, StringRef text, SmallVectorImpl<Value> &values) {
  constexpr gpu::Dimension axes[] = {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z};
  auto add = [&](Value index) {
    values.push_back(arith::IndexCastOp::create(builder, builder.getI32Type(), index));
  };
  for (gpu::Dimension axis : axes)
    add(gpu::BlockIdOp::create(builder, axis));
  for (gpu::Dimension axis : axes)
    add(gpu::ThreadIdOp::create(builder, axis));
  text.consume_back("\n");
  return ("device assertion failed" + Twine(text.empty() ? "" : ": ") + text +
          "\n  block (%d, %d, %d), thread (%d, %d, %d)")
      .str();
}

/// Writes the record of one message in its place.
static LogicalResult lowerPrintf(gpu::PrintfOp op, StringRef end, MessageTable &messages) {
  if (failed(checkRecordable(op, op.getArgs())))
    return failure();
  Builder builder(op.getLoc(), op);
  const bool failedAssertion = op->hasAttr(assertionAttribute);
  std::string text = runtimeFormat(op.getFormat());
  SmallVector<Value> values(op.getArgs());
  if (failedAssertion)
    text = assertionText(builder, text, values);
  const int32_t number = failedAssertion ? messages.add("assert", text, values, op.getLoc())
                                         : messages.add("print", text, values);

  const auto pointer = LLVM::LLVMPointerType::get(op.getContext(), globalSpace);
  Value size = i64(builder, 1 + recordWords(values));
  Value record = LLVM::CallOp::create(builder, TypeRange(pointer), reserveSymbol, ValueRange(size))
                     .getResult();
  Value null = LLVM::ZeroOp::create(builder, pointer);
  Value there = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, record, null);
  auto branch = scf::IfOp::create(builder, there, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    values.insert(values.begin(),
                  LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(number)));
    storeRecord(builder, record, values);
  }
  if (failedAssertion) // The wave ends: what it would do next relies on what is not true.
    LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr(end), ValueRange());
  op.erase();
  return success();
}

LogicalResult lowerDeviceMessages(gpu::GPUModuleOp module, MessageTable &messages) {
  SmallVector<gpu::PrintfOp> prints;
  module.walk<WalkOrder::PreOrder>([&](gpu::PrintfOp op) { prints.push_back(op); });
  if (prints.empty())
    return success();
  const DeviceNames names = namesFor(module);
  defineReserve(module, names.scope);
  for (gpu::PrintfOp op : prints)
    if (failed(lowerPrintf(op, names.end, messages)))
      return failure();
  return success();
}

} // namespace fly
