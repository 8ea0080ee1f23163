// SPDX-License-Identifier: Apache-2.0
//
// Matrix operations that read operands in shared memory.

#ifndef FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_H
#define FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include <optional>
#include <string>

#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h.inc"

#endif // FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_H
