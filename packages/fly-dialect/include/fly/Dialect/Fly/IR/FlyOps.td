// SPDX-License-Identifier: Apache-2.0
//
// All ops of the fly dialect.

#ifndef FLY_DIALECT_FLY_IR_FLYOPS_TD
#define FLY_DIALECT_FLY_IR_FLYOPS_TD

include "fly/Dialect/Fly/IR/AtomOps.td"
include "fly/Dialect/Fly/IR/ConstructorOps.td"
include "fly/Dialect/Fly/IR/ExtractorOps.td"
include "fly/Dialect/Fly/IR/LayoutAlgebraOps.td"
include "fly/Dialect/Fly/IR/LayoutFunctionOps.td"
include "fly/Dialect/Fly/IR/MemoryOps.td"
include "fly/Dialect/Fly/IR/ModeOps.td"
include "fly/Dialect/Fly/IR/TupleArithmeticOps.td"
include "fly/Dialect/Fly/IR/UtilityOps.td"

#endif // FLY_DIALECT_FLY_IR_FLYOPS_TD
