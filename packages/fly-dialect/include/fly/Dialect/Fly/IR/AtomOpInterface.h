// SPDX-License-Identifier: Apache-2.0
//
// What the copy and matrix operations of a back end answer besides their geometry.

#ifndef FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_H
#define FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include <optional>
#include <string>

#include "fly/Dialect/Fly/IR/AtomOpInterface.h.inc"

#endif // FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_H
