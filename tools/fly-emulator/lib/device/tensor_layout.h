// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flyemu {

/// Shape and strides of a tensor argument, so that reports can name elements.
struct TensorLayout {
  uint64_t data = 0;      ///< address of element (0, 0, ...)
  uint32_t itemBytes = 0; ///< of an element; 0 where elements are no whole bytes
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< bytes

  /// Find the gaps between elements, once shape and strides are set.
  void findGaps();
  /// Are there none, as far as is known?
  bool isDense() const { return gaps_.empty(); }
  /// Do all of these bytes, within the tensor's memory, belong to elements?
  bool holds(uint64_t address, uint64_t bytes) const;

  /// "shape (64, 32), elements of 4 bytes"
  std::string shapeText() const;
  /// "element (3, 5)", "byte 2 of element (3, 5)"; beyond the tensor: "where element (64, 0) would
  /// be", the coordinate of the slowest mode running on.
  std::string elementText(uint64_t address) const;

private:
  struct Mode {
    uint64_t stride;
    uint64_t extent;
  };
  uint64_t run_ = 0;       ///< bytes that lie together
  std::vector<Mode> gaps_; ///< modes with gaps between their runs, from the largest stride down
};

} // namespace flyemu
