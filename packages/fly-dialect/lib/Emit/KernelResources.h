// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_KERNELRESOURCES_H
#define FLY_LIB_EMIT_KERNELRESOURCES_H

#include "fly/Emit/CodeObject.h"

#include "llvm/ADT/StringMap.h"

namespace fly {

/// One kernel's entry of the metadata note, as MLIR spells it.
KernelResources resourcesFromMetadata(llvm::StringRef name, mlir::DictionaryAttr metadata);

/// Fills `kernels` (sorted by name) from the metadata note of the linked `codeObject`, and the
/// occupancy from the code generator's remarks, which the note does not hold. A missing or
/// malformed note is diagnosed on `op`.
mlir::LogicalResult readKernelResources(mlir::Operation *op, llvm::ArrayRef<char> codeObject,
                                        const llvm::StringMap<uint32_t> &occupancy,
                                        std::vector<KernelResources> &kernels);

} // namespace fly

#endif // FLY_LIB_EMIT_KERNELRESOURCES_H
