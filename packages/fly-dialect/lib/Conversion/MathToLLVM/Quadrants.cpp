// SPDX-License-Identifier: Apache-2.0
#include "Quadrants.h"

using namespace mlir;
using arith::CmpIPredicate;
using fly::FloatEmitter;

static unsigned bitsOf(Value word) {
  return getElementTypeOrSelf(word.getType()).getIntOrFloatBitWidth();
}

std::array<Value, 3> fly::bitsFrom(const FloatEmitter &e, SmallVector<Value> table, Value start) {
  const unsigned bits = bitsOf(start), size = table.size();
  const auto word = [&](int64_t value) { return e.integerLike(start, value); };
  // The words that hold them to the front: by 2^n words where bit n of their index is set. Each
  // step keeps what the later ones can still move, and the last leaves four words.
  Value index = e.shiftRight(start, word(llvm::Log2_32(bits)));
  for (unsigned count = llvm::bit_floor(size - 4); count != 0; count /= 2) {
    Value set = e.is(CmpIPredicate::ne, e.bitAnd(index, word(count)), word(0));
    for (unsigned i = 0; i < std::min(count + 3, size - count); ++i)
      table[i] = e.select(set, table[i + count], table[i]);
  }
  // Two shifts to the right, for the bits are none where `left` is 0.
  Value left = e.bitAnd(start, word(bits - 1)), right = e.bitXor(left, word(bits - 1));
  std::array<Value, 3> window;
  for (unsigned i = 0; i < 3; ++i) {
    Value fromNext = e.shiftRight(e.shiftRight(table[i + 1], word(1)), right);
    window[i] = e.bitOr(e.shiftLeft(table[i], left), fromNext);
  }
  return window;
}

Value fly::isOdd(const FloatEmitter &e, Value quadrant) {
  return e.is(CmpIPredicate::ne, e.bitAnd(quadrant, e.integerLike(quadrant, 1)),
              e.integerLike(quadrant, 0));
}

/// Negates a value in the quadrants 2 and 3.
static Value signByQuadrant(const FloatEmitter &e, Value value, Value quadrant) {
  Value sign = e.shiftLeft(e.bitAnd(quadrant, e.integerLike(quadrant, 2)),
                           e.integerLike(quadrant, bitsOf(quadrant) - 2));
  return e.bitcast(value.getType(), e.bitXor(e.bitcast(quadrant.getType(), value), sign));
}

std::array<Value, 2> fly::inQuadrant(const FloatEmitter &e, Value sine, Value cosine,
                                     Value quadrant) {
  Value swap = isOdd(e, quadrant);
  Value next = e.iadd(quadrant, e.integerLike(quadrant, 1));
  return {signByQuadrant(e, e.select(swap, cosine, sine), quadrant),
          signByQuadrant(e, e.select(swap, sine, cosine), next)};
}
