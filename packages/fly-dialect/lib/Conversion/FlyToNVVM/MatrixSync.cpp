// SPDX-License-Identifier: Apache-2.0
//
// Products of a warp, and copies of 8 x 8 matrices between shared memory and registers.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/Contiguity.h"
#include "../FlyToLLVM/DeviceConversion.h"
#include "AtomCalls.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {
namespace {

constexpr int64_t wordBits = 32;

/// The type that registers of an operand have in the intrinsics: pairs of f16, one f32, f64 or i32,
/// and 32 bits of everything else.
Type registerType(Type element, bool isAccumulator) {
  MLIRContext *context = element.getContext();
  if (element.isF16())
    return VectorType::get({2}, element);
  if (element.isF64() || (isAccumulator && element.isF32()))
    return element;
  return IntegerType::get(context, wordBits);
}

/// `value` in registers of a type; nothing where it has another size than `count` of them.
SmallVector<Value> toRegisters(OpBuilder &builder, Location loc, Value value, Type type,
                               int64_t count) {
  const bool isPair = isa<VectorType>(type);
  Type word = isPair ? Type(builder.getI32Type()) : type;
  if (bitWidthOf(value.getType()) != count * bitWidthOf(word))
    return {};
  Value words = reinterpret(builder, loc, value, VectorType::get({count}, word));
  SmallVector<Value> registers;
  for (int64_t i = 0; words && i != count; ++i) {
    Value one = LLVM::ExtractElementOp::create(builder, loc, words, constantI32(builder, loc, i));
    registers.push_back(isPair ? LLVM::BitcastOp::create(builder, loc, type, one).getResult()
                               : one);
  }
  return registers;
}

/// One vector of the registers that a struct holds, or that the value, of one register, is.
Value fromRegisters(OpBuilder &builder, Location loc, Value registers, int64_t count) {
  auto structure = dyn_cast<LLVM::LLVMStructType>(registers.getType());
  Type type = structure ? structure.getBody().front() : registers.getType();
  const bool isPair = isa<VectorType>(type);
  Type word = isPair ? Type(builder.getI32Type()) : type;
  Value vector = LLVM::UndefOp::create(builder, loc, VectorType::get({count}, word));
  for (int64_t i = 0; i != count; ++i) {
    Value one = structure
                    ? LLVM::ExtractValueOp::create(builder, loc, registers, ArrayRef<int64_t>{i})
                          .getResult()
                    : registers;
    if (isPair)
      one = LLVM::BitcastOp::create(builder, loc, word, one);
    vector = LLVM::InsertElementOp::create(builder, loc, vector, one, constantI32(builder, loc, i));
  }
  return vector;
}

// --- products ------------------------------------------------------------------------------------

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
  return element.isF64() ? "f64" : "s8";
}

/// LLVM names the intrinsics by the types that tell them apart.
std::string intrinsicOf(SM80MmaSyncType operation) {
  std::string name;
  llvm::raw_string_ostream text(name);
  const StringRef a = ptxName(operation.getElemTyA()), b = ptxName(operation.getElemTyB());
  text << "llvm.nvvm.mma.m" << operation.getM() << 'n' << operation.getN() << 'k'
       << operation.getK() << ".row.col.";
  if (isa<Float8E4M3FNType, Float8E5M2Type>(operation.getElemTyA()))
    text << "f32." << a << '.' << b << ".f32";
  else if (operation.getElemTyA().isF16())
    text << ptxName(operation.getElemTyAcc()) << '.' << ptxName(operation.getElemTyAcc());
  else
    text << a;
  return name;
}

/// The registers of an operand.
int64_t registersOf(SM80MmaSyncType operation, MmaOperand operand, Type type) {
  const auto [m, n, k] = operation.getShapeMNK();
  const int64_t elements = operand == MmaOperand::A   ? int64_t(m) * k
                           : operand == MmaOperand::B ? int64_t(n) * k
                                                      : int64_t(m) * n;
  constexpr int64_t lanes = 32;
  return elements * bitWidthOf(operation.getElementType(operand)) / lanes / bitWidthOf(type);
}

} // namespace

FailureOr<Value> lowerMmaSync(OpBuilder &builder, SM80MmaSyncType operation, const MmaCall &call) {
  Location loc = call.loc();
  SmallVector<Value> operands;
  for (auto [operand, name, value] :
       {std::tuple(MmaOperand::A, "A", call.a.front()),
        std::tuple(MmaOperand::B, "B", call.b.front()), std::tuple(MmaOperand::C, "C", call.c)}) {
    Type type = registerType(operation.getElementType(operand), operand == MmaOperand::C);
    const int64_t count = registersOf(operation, operand, type);
    SmallVector<Value> registers = toRegisters(builder, loc, value, type, count);
    if (registers.empty())
      return call.op->emitError() << name << " of " << Type(operation) << " is "
                                  << count * bitWidthOf(type)
                                  << " bits of a thread: make the fragment with make_fragment_"
                                  << name;
    operands.append(registers);
  }
  Type type = registerType(operation.getElemTyAcc(), /*isAccumulator=*/true);
  const int64_t count = registersOf(operation, MmaOperand::C, type);
  auto result =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(count, type));
  Value sums = LLVM::CallIntrinsicOp::create(
                   builder, loc, result, builder.getStringAttr(intrinsicOf(operation)), operands)
                   .getResult(0);
  return reinterpret(builder, loc, fromRegisters(builder, loc, sums, count), call.c.getType());
}

// --- copies --------------------------------------------------------------------------------------

namespace {

/// Diagnoses a call that is not one of all threads between a row each in shared memory and
/// registers.
template <typename Atom>
LogicalResult checkMatrices(Atom operation, const CopyCall &call, const CallOperand &memory,
                            const CallOperand &registers) {
  const bool isPredicated = isa<CopyAtomCallOp>(call.op)
                                ? static_cast<bool>(cast<CopyAtomCallOp>(call.op).getPred())
                                : static_cast<bool>(cast<CopyAtomCallSSAOp>(call.op).getPred());
  if (isPredicated)
    return call.op->emitError("all threads of a warp run ")
           << Type(operation) << " together: it takes no predicate";
  if (!memory.isMemoryIn(AddressSpace::Shared) ||
      (registers.memref() && !registers.isMemoryIn(AddressSpace::Register)))
    return call.op->emitError("a copy of ")
           << Type(operation) << " is between shared memory and registers";
  constexpr int64_t rowBits = 128;
  fly::MemRefType row = memory.memref();
  int64_t bits = getElementBitWidth(row.getElementType());
  if (isContiguous(row.getLayout()))
    forEachLeaf(row.getLayout().plain().shape(),
                [&](const IntTuple &leaf) { bits *= leaf.staticValue(); });
  if (!isContiguous(row.getLayout()) || bits != rowBits)
    return call.op->emitError("each thread of ")
           << Type(operation) << " names a row of 16 bytes that lie side by side, got "
           << row.getLayout().str() << " of " << row.getElementType()
           << "; a tile that is contiguous along the other mode is moved by the atom that is "
           << (operation.getTransposed() ? "not transposed" : "transposed");
  if (registers.memref() && !isContiguous(registers.memref().getLayout()))
    return call.op->emitError("the registers that ")
           << Type(operation) << " moves lie side by side, got "
           << registers.memref().getLayout().str();
  return success();
}

NVVM::MMALayout layoutOf(bool transposed) {
  return transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
}

NVVM::LdStMatrixShapeAttr shapeOfMatrix(OpBuilder &builder) {
  return NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
}

} // namespace

CopyResult lowerLdMatrix(OpBuilder &builder, LdMatrixType operation, const CopyCall &call) {
  if (failed(checkMatrices(operation, call, call.source, call.destination)))
    return failure();
  Location loc = call.loc();
  Value row =
      swizzlePointer(builder, loc, call.source.converted, call.source.memref().getSwizzle());
  const int32_t matrices = operation.getMatrices();
  Type word = builder.getI32Type();
  Type type = matrices == 1 ? word
                            : Type(LLVM::LLVMStructType::getLiteral(
                                  builder.getContext(), SmallVector<Type>(matrices, word)));
  Value words = NVVM::LdMatrixOp::create(builder, loc, type, row, matrices,
                                         layoutOf(operation.getTransposed()),
                                         shapeOfMatrix(builder), NVVM::LdStMatrixEltType::B16);
  return writeResult(builder, call, fromRegisters(builder, loc, words, matrices));
}

CopyResult lowerStMatrix(OpBuilder &builder, StMatrixType operation, const CopyCall &call) {
  if (call.resultType || failed(checkMatrices(operation, call, call.destination, call.source)))
    return failure();
  Location loc = call.loc();
  const int64_t matrices = operation.getMatrices();
  Value words = readSource(builder, call, VectorType::get({matrices}, builder.getI32Type()));
  if (!words)
    return call.op->emitError("a thread holds ")
           << matrices * wordBits << " bits of " << Type(operation);
  Value row = swizzlePointer(builder, loc, call.destination.converted,
                             call.destination.memref().getSwizzle());
  NVVM::StMatrixOp::create(
      builder, loc, row, toRegisters(builder, loc, words, builder.getI32Type(), matrices),
      layoutOf(operation.getTransposed()), shapeOfMatrix(builder), NVVM::LdStMatrixEltType::B16);
  return Value();
}

} // namespace fly::nvvm
