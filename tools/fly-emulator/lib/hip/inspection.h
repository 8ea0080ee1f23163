// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace flyemu {

/// The code of a code object, an instruction a line: address, text, source line where it changes.
std::string disassembleImage(const void *image, size_t bytes, const std::string &arch);

/// Architecture, version, and the kernels with their resources and arguments, as JSON.
std::string describeImage(const void *image, size_t bytes);

/// All mnemonics of LLVM's AMDGPU target (of any architecture), each with class and fidelity, or
/// null where the emulator does not execute it, as JSON.
std::string describeOpcodes(const std::string &arch);

} // namespace flyemu
