// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h"

#include "fly/Dialect/Fly/IR/MemoryOperandInterface.cpp.inc"
