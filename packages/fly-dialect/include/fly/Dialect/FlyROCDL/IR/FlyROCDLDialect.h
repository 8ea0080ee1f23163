// SPDX-License-Identifier: Apache-2.0
//
// The fly_rocdl dialect: its attributes, its atoms and its ops.

#ifndef FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_H
#define FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_H

#include "fly/Dialect/Fly/IR/AtomOpInterface.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLTypes.h.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLOps.h.inc"

#endif // FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_H
