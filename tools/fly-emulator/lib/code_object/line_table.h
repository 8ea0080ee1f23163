// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace flyemu {

/// The DWARF line table of a code object, read once and on first use (thread-safe).
class LineTable {
public:
  explicit LineTable(const std::string &elf);
  ~LineTable();
  LineTable(const LineTable &) = delete;
  LineTable &operator=(const LineTable &) = delete;

  /// "file:line" of an ELF address, the innermost inlined frame; empty where there is none.
  std::string sourceLine(uint64_t address);

private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

} // namespace flyemu
