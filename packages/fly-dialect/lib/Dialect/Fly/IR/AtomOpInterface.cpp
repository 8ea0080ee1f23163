// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/Fly/IR/AtomOpInterface.h"

#include "fly/Dialect/Fly/IR/AtomOpInterface.cpp.inc"
