// SPDX-License-Identifier: Apache-2.0
#include "TensorDescriptor.h"
#include "../FlyToLLVM/Addressing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::rocdl {

std::optional<PaddingCode> encodePadding(int64_t interval, int64_t amount, int64_t elementBits) {
  int64_t intervalBits = interval * elementBits;
  int64_t amountBits = amount * elementBits;
  if (intervalBits % 32 != 0 || amountBits % 32 != 0)
    return std::nullopt;
  int64_t intervalDwords = intervalBits / 32;
  int64_t amountDwords = amountBits / 32;
  if (!llvm::isPowerOf2_64(std::max<int64_t>(intervalDwords, 0)) || intervalDwords < 2 ||
      intervalDwords > 256 || amountDwords < 1 || amountDwords > 128)
    return std::nullopt;
  return PaddingCode{llvm::Log2_64(intervalDwords) - 1, static_cast<uint32_t>(amountDwords - 1)};
}

WordConstants::WordConstants(OpBuilder &builder, Location loc)
    : zero(constantI32(builder, loc, 0)), sixteen(constantI32(builder, loc, 16)),
      lowHalf(constantI32(builder, loc, 0xFFFF)) {}

namespace {

/// Puts values into the halves of 32-bit words.
class WordWriter {
public:
  WordWriter(OpBuilder &builder, Location loc, const WordConstants &constants)
      : builder(builder), loc(loc), constants(constants) {}

  Value constant(uint32_t value) { return constantI32(builder, loc, static_cast<int32_t>(value)); }
  Value join(Value a, Value b) { return arith::OrIOp::create(builder, loc, a, b); }
  Value lowHalf(Value word) { return arith::AndIOp::create(builder, loc, word, constants.lowHalf); }
  Value highHalf(Value word) {
    return lowHalf(arith::ShRUIOp::create(builder, loc, word, constants.sixteen));
  }
  /// The low half of `word` as the high half.
  Value asHighHalf(Value word) {
    return arith::ShLIOp::create(builder, loc, lowHalf(word), constants.sixteen);
  }
  Value lowWord(Value wide) {
    return LLVM::TruncOp::create(builder, loc, builder.getI32Type(), wide);
  }
  Value shiftedDown(Value wide) {
    return LLVM::LShrOp::create(builder, loc, wide, constantI64(builder, loc, 32));
  }
  Value highWord(Value wide) { return lowWord(shiftedDown(wide)); }
  Value group(ArrayRef<Value> words) {
    auto type = VectorType::get(words.size(), builder.getI32Type());
    return vector::FromElementsOp::create(builder, loc, type, words);
  }

private:
  OpBuilder &builder;
  Location loc;
  const WordConstants &constants;
};

/// Emits the groups of one descriptor.
class GroupWriter {
public:
  GroupWriter(OpBuilder &builder, Location loc, const WordConstants &constants,
              const TensorDescriptor &descriptor)
      : write(builder, loc, constants), builder(builder), loc(loc), zero(constants.zero),
        descriptor(descriptor), rank(descriptor.tileSizes.size()) {}

  Value addresses();
  Value inner();
  Value middle();
  Value outer();

private:
  Value controlWord();
  Value size(size_t dim) { return dim < rank ? descriptor.tensorSize(dim) : zero; }
  uint32_t tile(size_t dim) const {
    return dim < rank ? static_cast<uint32_t>(descriptor.tileSizes[dim]) : 0;
  }

  WordWriter write;
  OpBuilder &builder;
  Location loc;
  Value zero;
  const TensorDescriptor &descriptor;
  size_t rank;
};

} // namespace

/// Group 0.
Value GroupWriter::addresses() {
  Value low = write.lowWord(descriptor.globalAddress);
  Value high = write.shiftedDown(descriptor.globalAddress);
  // The type field in the top two bits is 2.
  constexpr uint32_t typeImage = 1U << 31;
  Value type = write.constant(typeImage);
  high = write.join(write.lowWord(high), type);
  return write.group({write.constant(1), descriptor.ldsAddress, low, high});
}

/// Group 1, word 0: modes and element size.
Value GroupWriter::controlWord() {
  uint32_t fixed = llvm::Log2_64(descriptor.elementBits / 8) << 16;
  fixed |= uint32_t(descriptor.barrier) << 18;
  fixed |= uint32_t(descriptor.timeout) << 21;
  if (descriptor.padding) {
    fixed |= 1U << 20;
    fixed |= descriptor.padding->interval << 22;
    fixed |= descriptor.padding->amount << 25;
  }
  Value mask = descriptor.workgroupMask ? write.lowHalf(descriptor.workgroupMask()) : Value();
  Value word = write.constant(fixed);
  if (mask)
    word = write.join(word, mask);
  if (descriptor.earlyTimeout) {
    Value bit = arith::AndIOp::create(builder, loc, descriptor.earlyTimeout, write.constant(1));
    word = write.join(word, arith::ShLIOp::create(builder, loc, bit, write.constant(21)));
  }
  return word;
}

/// Group 1.
Value GroupWriter::inner() {
  Value control = controlWord();
  Value size0 = size(0);
  Value size1 = size(1);
  Value word1 = write.asHighHalf(size0);
  if (descriptor.barrierAddress) { // In units of 8 bytes.
    Value units =
        arith::ShRUIOp::create(builder, loc, descriptor.barrierAddress, write.constant(3));
    word1 = write.join(write.lowHalf(units), word1);
  }
  Value size1Low = write.asHighHalf(size1);
  Value word2 = write.join(write.highHalf(size0), size1Low);
  Value tile0 = write.constant(tile(0) << 16);
  Value word3 = write.join(write.highHalf(size1), tile0);
  // Strides have 48 bits: a low word and a high half.
  Value word5 = zero, word6 = zero, word7 = zero;
  if (rank > 1) {
    word5 = write.lowWord(descriptor.strides[0]);
    word6 = write.lowHalf(write.highWord(descriptor.strides[0]));
  }
  if (rank > 2) {
    Value stride = descriptor.strides[1];
    word6 = write.join(word6, write.asHighHalf(write.lowWord(stride)));
    Value top = write.asHighHalf(write.highWord(stride));
    word7 = write.join(write.highHalf(write.lowWord(stride)), top);
  }
  return write.group({control, word1, word2, word3, write.constant(tile(1) | (tile(2) << 16)),
                      word5, word6, word7});
}

/// Group 2.
Value GroupWriter::middle() {
  if (rank < 3)
    return write.group({zero, zero, zero, zero});
  Value size2 = size(2);
  Value size3 = size(3);
  if (rank < 4)
    return write.group({size2, size3, zero, zero});
  Value low = write.lowWord(descriptor.strides[2]);
  Value tile3 = write.constant(tile(3) << 16);
  Value high = write.lowHalf(write.highWord(descriptor.strides[2]));
  return write.group({size2, size3, low, write.join(high, tile3)});
}

/// Group 3.
Value GroupWriter::outer() {
  if (rank < 5)
    return write.group({zero, zero, zero, zero});
  Value size4 = size(4);
  Value low = write.lowWord(descriptor.strides[3]);
  Value size4Low = write.asHighHalf(size4);
  Value word1 = write.join(write.lowHalf(write.highWord(descriptor.strides[3])), size4Low);
  Value tile4 = write.constant(tile(4) << 16);
  Value word2 = write.join(write.highHalf(size4), tile4);
  return write.group({low, word1, word2, zero});
}

void emitTensorMove(OpBuilder &builder, Location loc, const WordConstants &constants,
                    const TensorDescriptor &descriptor, bool isLoad) {
  GroupWriter groups(builder, loc, constants, descriptor);
  Value group0 = groups.addresses();
  Value group1 = groups.inner();
  Value group2 = groups.middle();
  Value group3 = groups.outer();

  ArrayAttr noAttr;
  auto policy = static_cast<uint32_t>(descriptor.cachePolicy);
  if (isLoad)
    ROCDL::TensorLoadToLDSOp::create(builder, loc, group0, group1, group2, group3, policy, noAttr,
                                     noAttr, noAttr);
  else
    ROCDL::TensorStoreFromLDSOp::create(builder, loc, group0, group1, group2, group3, policy,
                                        noAttr, noAttr, noAttr);
}

} // namespace fly::rocdl
