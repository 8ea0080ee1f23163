// SPDX-License-Identifier: Apache-2.0
//
// The canonical layouts of matrix operands in shared memory (PTX ISA, "asynchronous warpgroup level
// matrix shared memory layout"), in bytes. T elements are 16 bytes, W is the width of the swizzle:
//
//   along K, plain      ((8,m),(T,2)):((16,SBO),(1,LBO))
//   along K, swizzled   ((8,m),(T,2)):((W,SBO),(1,16))
//   along MN, plain     ((T,m),(8,k)):((1,SBO),(16,LBO))
//   along MN, swizzled  ((W/e,m),(8,k)):((1,LBO),(W,SBO))

#include "fly/Dialect/FlyNVVM/IR/SharedTile.h"

#include "fly/Algebra/Layout.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using llvm::Twine;

namespace fly::nvvm {

namespace {

constexpr int64_t unit = 16;      // What offsets are counted in.
constexpr int64_t fieldBits = 14; // Of an offset.
constexpr int32_t coreRows = 8;   // Of a core matrix, whose rows are 16 bytes.
constexpr unsigned leadingPosition = 16, stridePosition = 32, modePosition = 62;

/// The byte offsets of the elements of a tile by (row, k).
class Offsets {
public:
  /// Requires a static layout.
  Offsets(const Layout &layout, int32_t rows, int64_t bytes) : rows(rows), bytes(bytes) {
    forEachLeaf(layout.shape(), [&](const IntTuple &leaf) { shape.push_back(leaf.staticValue()); });
    forEachLeaf(layout.stride(),
                [&](const IntTuple &leaf) { stride.push_back(leaf.staticValue()); });
  }
  int64_t size() const {
    int64_t product = 1;
    for (int64_t extent : shape)
      product *= extent;
    return product;
  }
  int64_t operator()(int64_t row, int64_t k) const {
    int64_t index = k * rows + row, offset = 0;
    for (auto [extent, distance] : llvm::zip_equal(shape, stride)) {
      offset += index % extent * distance;
      index /= extent;
    }
    return offset * bytes;
  }

private:
  int64_t rows, bytes;
  SmallVector<int64_t> shape, stride;
};

/// The width of a pattern whose swizzle this is; nothing when there is none.
std::optional<int32_t> widthOf(const Swizzle &swizzle) {
  for (int32_t width : {0, 32, 64, 128})
    if (swizzle == swizzleOfWidth(width) || (width == 0 && swizzle.isTrivial()))
      return width;
  return std::nullopt;
}

/// A layout that the hardware reads, in elements, with the widest swizzle.
std::string advice(int32_t extent, int32_t k, int64_t bytes, bool mnMajor) {
  const int64_t row = 128 / bytes;
  const std::string tile =
      mnMajor ? ("tiles of ((" + Twine(row) + ",r),(8,k)):((1," + Twine(row * 8) + "*k),(" +
                 Twine(row) + "," + Twine(row * 8) + "))")
                    .str()
              : ("slices of (rows," + Twine(row) + "):(" + Twine(row) + ",1)").str();
  return "; of " + std::to_string(extent) + " by " + std::to_string(k) + " elements it takes " +
         tile + " behind a pointer with the swizzle S<3,4,3>";
}

} // namespace

Swizzle swizzleOfWidth(int32_t bytes) {
  return bytes == 0 ? Swizzle() : Swizzle{bytes == 128 ? 3 : bytes == 64 ? 2 : 1, 4, 3};
}

uint64_t SharedTile::descriptor() const {
  const uint64_t mode = swizzleBytes == 0     ? 0
                        : swizzleBytes == 128 ? 1
                        : swizzleBytes == 64  ? 2
                                              : 3;
  return static_cast<uint64_t>(leadingBytes / unit) << leadingPosition |
         static_cast<uint64_t>(strideBytes / unit) << stridePosition | mode << modePosition;
}

llvm::Expected<SharedTile> describeSharedTile(MemRefType memref, int32_t extent, int32_t k,
                                              bool mnMajor) {
  const int64_t bytes = getElementBitWidth(memref.getElementType()) / 8;
  auto refuse = [&](const Twine &why) {
    return llvm::createStringError("the layout " + memref.getLayout().str() + " " + why +
                                   advice(extent, k, bytes, mnMajor));
  };
  if (memref.getLayout().isComposed())
    return refuse("is composed: the swizzle must be the pointer's, in bytes");
  const Layout layout = memref.getLayout().plain();
  if (!layout.isStatic())
    return refuse("is not static");
  const Offsets at(layout, extent, bytes);
  if (at.size() != int64_t(extent) * k)
    return refuse("holds " + Twine(at.size()) + " elements, and one call takes " + Twine(extent) +
                  " by " + Twine(k));
  const std::optional<int32_t> width = widthOf(memref.getSwizzle());
  if (!width)
    return refuse("lies behind a pointer with the swizzle " + memref.getSwizzle().str() +
                  ", and the hardware has S<1,4,3>, S<2,4,3>, S<3,4,3> and none");

  const int64_t perUnit = unit / bytes;
  const int64_t rowsInPattern = *width == 0 ? perUnit : *width / bytes;
  SharedTile tile{*width, 0, 0};
  // What the two offsets must be, from the first elements that they reach.
  const int64_t nextRows = mnMajor ? (extent > rowsInPattern ? at(rowsInPattern, 0) : 0)
                                   : (extent > coreRows ? at(coreRows, 0) : 0);
  const int64_t nextK = mnMajor ? (k > coreRows ? at(0, coreRows) : 0) : at(0, perUnit);
  const bool rowsLead = mnMajor && *width != 0;
  tile.leadingBytes = rowsLead ? nextRows : nextK;
  tile.strideBytes = rowsLead ? nextK : nextRows;

  auto canonical = [&](int64_t row, int64_t column) {
    if (!mnMajor)
      return row % coreRows * (*width == 0 ? unit : *width) + row / coreRows * tile.strideBytes +
             column % perUnit * bytes + column / perUnit * (*width == 0 ? tile.leadingBytes : unit);
    return row % rowsInPattern * bytes + row / rowsInPattern * nextRows +
           column % coreRows * (*width == 0 ? unit : *width) + column / coreRows * nextK;
  };
  for (int64_t column = 0; column != k; ++column)
    for (int64_t row = 0; row != extent; ++row)
      if (at(row, column) != canonical(row, column))
        return refuse("puts element (" + Twine(row) + "," + Twine(column) + ") at byte " +
                      Twine(at(row, column)) + ", where the hardware looks for it at byte " +
                      Twine(canonical(row, column)) + " with a swizzle of " + Twine(*width) +
                      " bytes, contiguous along " + (mnMajor ? "M or N" : "K"));
  if (!mnMajor && *width != 0)
    tile.leadingBytes = unit; // Not read.
  for (int64_t offset : {tile.leadingBytes, tile.strideBytes})
    if (offset < 0 || offset % unit != 0 || offset / unit >= (int64_t(1) << fieldBits))
      return refuse("has a distance of " + Twine(offset) +
                    " bytes, which is no multiple of 16 below 262144");
  return tile;
}

} // namespace fly::nvvm
