// SPDX-License-Identifier: Apache-2.0
//
// The fly_nvvm dialect: its atoms and its ops.

#ifndef FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_H
#define FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_H

#include "fly/Dialect/Fly/IR/AtomOpInterface.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"
#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMTypes.h.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMOps.h.inc"

#endif // FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_H
