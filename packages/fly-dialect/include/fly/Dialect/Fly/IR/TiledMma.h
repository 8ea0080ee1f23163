// SPDX-License-Identifier: Apache-2.0
//
// What the type of a tiled matrix multiplication says of it as a whole (fly/Algebra/MmaTiling.h).

#ifndef FLY_DIALECT_FLY_IR_TILEDMMA_H
#define FLY_DIALECT_FLY_IR_TILEDMMA_H

#include "fly/Algebra/Context.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

namespace fly::evaluate {

Layout mmaThreads(AlgebraContext &cx, TiledMmaType mma);
IntTuple mmaTile(AlgebraContext &cx, TiledMmaType mma);
Layout mmaThreadValues(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand);

} // namespace fly::evaluate

#endif // FLY_DIALECT_FLY_IR_TILEDMMA_H
