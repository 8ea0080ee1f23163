// SPDX-License-Identifier: Apache-2.0
//
// What most files of this package include: parsed once for all of them. A file still includes what
// it uses.
#ifndef FLY_LIB_PRECOMPILED_H
#define FLY_LIB_PRECOMPILED_H

#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"

#endif // FLY_LIB_PRECOMPILED_H
