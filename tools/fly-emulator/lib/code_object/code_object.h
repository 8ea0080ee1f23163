// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "code_object/kernel_descriptor.h"
#include "code_object/kernel_metadata.h"
#include "code_object/line_table.h"

namespace flyemu {

/// A symbol of the code object: a function, a kernel descriptor or a global variable.
struct Symbol {
  uint64_t address = 0; ///< in the code object's own address space
  uint64_t size = 0;
  bool isFunction = false;
};

/// A function that contains an address, for reports: "name+0x40".
struct FunctionAt {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// An AMDGPU ELF shared object, loaded: segments in memory, relocated, its symbols and its kernels.
///
/// Device addresses are host addresses; `base()` is added to what the ELF says.
class CodeObject {
public:
  /// Throws EmulatorError: hipErrorInvalidImage for something that is no AMDGPU code object,
  /// hipErrorNoBinaryForGpu for another architecture than `arch` (may be empty: take any).
  CodeObject(const void *image, size_t size, const std::string &arch);

  CodeObject(const CodeObject &) = delete;
  CodeObject &operator=(const CodeObject &) = delete;

  const std::string &arch() const { return arch_; }
  /// The file that it was made from.
  const std::string &image() const { return file_; }
  int abiVersion() const { return abiVersion_; } ///< code object version: 4, 5 or 6
  const std::vector<KernelMetadata> &kernels() const { return kernels_; }
  const KernelMetadata *findKernel(const std::string &name) const;
  const Symbol *findSymbol(const std::string &name) const;
  /// All symbols by name.
  const std::map<std::string, Symbol> &symbols() const { return symbols_; }
  KernelDescriptor descriptor(const KernelMetadata &kernel) const;
  /// ELF address of the first instruction of the kernel.
  uint64_t entry(const KernelMetadata &kernel) const;

  /// Lanes of the waves that run the code at an ELF address: what the descriptor of its kernel
  /// says, and of a function that is no kernel what all kernels have in common. Throws
  /// EmulatorError (hipErrorNotSupported) where they differ.
  uint32_t lanesAt(uint64_t address) const;

  uint8_t *base() const { return memory_.get(); }
  uint64_t memorySize() const { return memorySize_; }
  /// The parts of memory that kernels may write (begin, end), relative to base().
  const std::vector<std::pair<uint64_t, uint64_t>> &writable() const { return writable_; }
  uint64_t textBegin() const { return textBegin_; }
  uint64_t textEnd() const { return textEnd_; }
  /// The function that contains an ELF address; where none does, the whole text.
  FunctionAt functionAt(uint64_t address) const;
  /// Where the first function behind an ELF address begins; the end of the text without one.
  uint64_t nextFunction(uint64_t address) const;
  /// "file:line" of an ELF address from DWARF, empty where there is none.
  std::string sourceLine(uint64_t address) const;

private:
  struct Aligned {
    void operator()(uint8_t *memory) const;
  };

  void loadSegments(const uint8_t *file, size_t size);
  void readSections();
  void applyRelocations();

  std::string file_; ///< a copy of the image, which DWARF is read from when a report asks for it
  std::string arch_;
  int abiVersion_ = 0;
  std::unique_ptr<uint8_t, Aligned> memory_;
  uint64_t memorySize_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> writable_;
  uint64_t textBegin_ = 0;
  uint64_t textEnd_ = 0;
  std::vector<KernelMetadata> kernels_;
  std::map<std::string, Symbol> symbols_;
  std::map<uint64_t, std::pair<uint64_t, std::string>> functions_; ///< begin -> (end, name)
  mutable std::unique_ptr<LineTable> lines_;
};

} // namespace flyemu
