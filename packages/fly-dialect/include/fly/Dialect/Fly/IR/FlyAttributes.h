// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_FLYATTRIBUTES_H
#define FLY_DIALECT_FLY_IR_FLYATTRIBUTES_H

#include "fly/Algebra/IntTuple.h"
#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Swizzle.h"
#include "fly/Algebra/Tile.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"

#include "fly/Dialect/Fly/IR/FlyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fly/Dialect/Fly/IR/FlyAttributes.h.inc"

#endif // FLY_DIALECT_FLY_IR_FLYATTRIBUTES_H
