// SPDX-License-Identifier: Apache-2.0
//
// What can be said of waits and wait states without running a kernel: on every path through the
// code, as a compiler's last pass would see it.
#pragma once

#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "execute/program.h"

namespace flyemu {

/// Something that some path through a kernel does wrong.
struct CodeFinding {
  std::string kind; ///< "wait", "barrier", "hazard"
  std::string what;
  const Instruction *inst = nullptr;
  const Instruction *other = nullptr; ///< what `inst` comes too early for
};

/// What was looked at, and what was found.
struct CodeCheck {
  size_t instructions = 0; ///< that some path reaches
  size_t unknown = 0;      ///< of them, those that are not understood, and so not checked
  size_t waits = 0;
  size_t barriers = 0;
  size_t matrix = 0;
  size_t loadsToLds = 0;
  size_t calls = 0; ///< and jumps through registers, beyond which nothing is followed
  std::vector<CodeFinding> findings; ///< in the order of the code
};

/// Check a kernel.
///
/// - A register is used, or overwritten, while a load into it may be outstanding (`wait`).
/// - A barrier is reached while writes to LDS, or reads of it, may be outstanding (`barrier`):
/// other
///   waves use what they leave behind.
/// - An instruction comes too soon after one that hardware does not wait for (`hazard`).
///
/// Counters are followed as the least number of later operations on any path: s_waitcnt vmcnt(n)
/// lets the last n be outstanding. Whether a load straight to LDS is waited for depends on where in
/// LDS it goes, which only a run can tell (the `wait` sanitizer).
CodeCheck checkKernel(Program &program, const KernelMetadata &kernel);

/// All kernels of a program, as text: a line of each finding's place, text and earlier instruction;
/// empty where nothing is found.
std::string checkText(Program &program);

/// All kernels of a code object, as JSON; `arch` as for disassembleImage. EmulatorError for what is
/// no code object.
std::string checkImage(const void *image, size_t size, const std::string &arch);

} // namespace flyemu
