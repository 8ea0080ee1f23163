// SPDX-License-Identifier: Apache-2.0
//
// Sums of two f64 whose parts do not overlap, and what functions of f64 share. The error-free
// transformations are those of Dekker and Knuth; products use a fused multiply-add.
#ifndef FLY_CONVERSION_MATHTOLLVM_DOUBLEDOUBLE_H
#define FLY_CONVERSION_MATHTOLLVM_DOUBLEDOUBLE_H

#include "FloatEmitter.h"

namespace fly {

struct DoubleDouble {
  mlir::Value high, low;
};

/// a + b exactly, for a = 0 or |a| >= |b|.
DoubleDouble fastTwoSum(const FloatEmitter &e, mlir::Value a, mlir::Value b);
/// a + b exactly.
DoubleDouble twoSum(const FloatEmitter &e, mlir::Value a, mlir::Value b);
/// a b exactly, unless it underflows.
DoubleDouble twoProduct(const FloatEmitter &e, mlir::Value a, mlir::Value b);

/// e^(high + low) for finite parts and infinite or NaN `high`.
mlir::Value emitDoubleExp(const FloatEmitter &e, DoubleDouble x);
/// log(x) within 2^-64 relative for positive finite x, and something finite for all else.
DoubleDouble emitDoubleLog(const FloatEmitter &e, mlir::Value x);

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_DOUBLEDOUBLE_H
