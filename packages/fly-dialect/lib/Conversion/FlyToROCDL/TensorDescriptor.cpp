// SPDX-License-Identifier: Apache-2.0
#include "TensorDescriptor.h"
#include "Addressing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

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

namespace {

/// Puts values into the bit fields of 32-bit words.
class WordWriter {
public:
  WordWriter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(uint32_t value) { return constantI32(builder, loc, static_cast<int32_t>(value)); }
  Value band(Value a, uint32_t mask) {
    return arith::AndIOp::create(builder, loc, a, constant(mask));
  }
  Value bor(Value a, Value b) { return a ? arith::OrIOp::create(builder, loc, a, b) : b; }
  Value shl(Value a, uint32_t amount) {
    return amount == 0 ? a : arith::ShLIOp::create(builder, loc, a, constant(amount)).getResult();
  }
  Value shr(Value a, uint32_t amount) {
    return arith::ShRUIOp::create(builder, loc, a, constant(amount));
  }
  /// 32 bits of a 64-bit value from bit `from` on.
  Value slice(Value wide, unsigned from) {
    if (from != 0)
      wide = arith::ShRUIOp::create(builder, loc, wide, constantI64(builder, loc, from));
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  }
  Value group(ArrayRef<Value> words) {
    auto type = VectorType::get(words.size(), builder.getI32Type());
    return vector::FromElementsOp::create(builder, loc, type, words);
  }

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace

/// Group 1, word 0: modes and element size.
static Value controlWord(WordWriter &write, const TensorDescriptor &descriptor) {
  uint32_t fixed = llvm::Log2_64(descriptor.elementBits / 8) << 16;
  fixed |= uint32_t(descriptor.barrier) << 18;
  fixed |= uint32_t(descriptor.timeout) << 21;
  if (descriptor.padding) {
    fixed |= 1U << 20;
    fixed |= descriptor.padding->interval << 22;
    fixed |= descriptor.padding->amount << 25;
  }
  Value word = write.constant(fixed);
  if (descriptor.workgroupMask)
    word = write.bor(word, write.band(descriptor.workgroupMask, 0xFFFF));
  if (descriptor.earlyTimeout)
    word = write.bor(word, write.shl(write.band(descriptor.earlyTimeout, 1), 21));
  return word;
}

void emitTensorMove(OpBuilder &builder, Location loc, const TensorDescriptor &descriptor,
                    bool isLoad) {
  WordWriter write(builder, loc);
  Value zero = write.constant(0);
  size_t rank = descriptor.tileSizes.size();
  auto size = [&](size_t dim) { return dim < rank ? descriptor.tensorSizes[dim] : zero; };
  auto tile = [&](size_t dim) {
    return dim < rank ? static_cast<uint32_t>(descriptor.tileSizes[dim]) : 0;
  };
  // Strides have 48 bits: a low word and a high half word.
  auto strideLow = [&](size_t index) {
    return index + 1 < rank ? write.slice(descriptor.strides[index], 0) : zero;
  };
  auto strideHigh = [&](size_t index) {
    return index + 1 < rank ? write.band(write.slice(descriptor.strides[index], 32), 0xFFFF) : zero;
  };

  // The type field in the top two bits is 2.
  constexpr uint32_t typeImage = 1U << 31;
  Value group0 = write.group(
      {write.constant(1), descriptor.ldsAddress, write.slice(descriptor.globalAddress, 0),
       write.bor(write.slice(descriptor.globalAddress, 32), write.constant(typeImage))});

  Value barrierWord = zero;
  if (descriptor.barrierAddress) // In units of 8 bytes.
    barrierWord = write.band(write.shr(descriptor.barrierAddress, 3), 0xFFFF);
  Value stride1 = rank > 2 ? descriptor.strides[1] : Value();
  Value group1 = write.group({
      controlWord(write, descriptor),
      write.bor(barrierWord, write.shl(size(0), 16)),
      write.bor(write.shr(size(0), 16), write.shl(size(1), 16)),
      write.bor(write.shr(size(1), 16), write.constant(tile(0) << 16)),
      write.constant(tile(1) | (tile(2) << 16)),
      strideLow(0),
      write.bor(strideHigh(0), stride1 ? write.shl(write.slice(stride1, 0), 16) : zero),
      stride1 ? write.slice(stride1, 16) : zero,
  });

  SmallVector<Value> words2(4, zero);
  SmallVector<Value> words3(4, zero);
  if (rank >= 3)
    words2 = {size(2), size(3), strideLow(2),
              write.bor(strideHigh(2), write.constant(tile(3) << 16))};
  if (rank >= 5)
    words3 = {strideLow(3), write.bor(strideHigh(3), write.shl(size(4), 16)),
              write.bor(write.shr(size(4), 16), write.constant(tile(4) << 16)), zero};
  Value group2 = write.group(words2);
  Value group3 = write.group(words3);

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
