// SPDX-License-Identifier: Apache-2.0
//
// What most files of the conversions out of the fly dialects include: parsed once for all of them.
#ifndef FLY_LIB_CONVERSION_PRECOMPILED_H
#define FLY_LIB_CONVERSION_PRECOMPILED_H

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"

#endif // FLY_LIB_CONVERSION_PRECOMPILED_H
