// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_AMDGPUTARGET_H
#define FLY_LIB_EMIT_AMDGPUTARGET_H

namespace fly {

/// Makes known to this process what LLVM says of AMD GPUs. It takes microseconds.
void initializeAMDGPUDescriptions();

/// The same, and how code is generated for them, with our passes in it.
void initializeAMDGPUTarget();

} // namespace fly

#endif // FLY_LIB_EMIT_AMDGPUTARGET_H
