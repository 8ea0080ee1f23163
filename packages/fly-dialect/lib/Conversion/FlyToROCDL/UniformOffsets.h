// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_UNIFORMOFFSETS_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_UNIFORMOFFSETS_H

#include "mlir/IR/Operation.h"

namespace fly::rocdl {

/// Advances global pointers by the part of an offset that all threads of a workgroup share, and
/// then by the rest. The first sum is made once per wave in scalar registers, and the second is
/// the memory instruction's own; added up as one offset, both take vector instructions.
void splitUniformOffsets(mlir::Operation *module);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_UNIFORMOFFSETS_H
