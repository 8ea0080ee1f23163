// SPDX-License-Identifier: Apache-2.0
#include "Contiguity.h"
#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"

using namespace mlir;

namespace fly::rocdl {

/// The coalesced layout, a leaf if it can be one, of a tensor with a static plain layout.
static std::optional<Layout> coalesced(const AnyLayout &layout) {
  if (layout.isComposed() || !layout.isStatic())
    return std::nullopt;
  AlgebraContext algebra;
  Layout result = canonicalise(algebra, coalesce(algebra, layout.plain()));
  if (algebra.failed())
    return std::nullopt;
  return result;
}

static bool isOnePiece(const Layout &layout) {
  return layout.shape().isStaticInt(1) ||
         (layout.shape().isLeaf() && layout.stride().isStaticInt(1));
}

bool isContiguous(const AnyLayout &layout) {
  std::optional<Layout> flat = coalesced(layout);
  return flat && isOnePiece(*flat);
}

static int64_t staticSize(const Layout &layout) {
  int64_t size = 1;
  forEachLeaf(layout.shape(), [&](const IntTuple &leaf) { size *= leaf.staticValue(); });
  return size;
}

/// Whether the layout takes up exactly as much memory as it has elements.
static bool isGapless(const Layout &layout) {
  AlgebraContext algebra;
  IntTuple extent = cosize(algebra, layout);
  return !algebra.failed() && extent.isStaticLeaf() && extent.staticValue() == staticSize(layout);
}

LogicalResult checkContiguity(Type operation, const CopyCall &call) {
  int64_t bits = 0;
  if (auto copy = dyn_cast<UniversalCopyType>(operation))
    bits = copy.getBits();
  else if (auto buffer = dyn_cast<CDNA3BufferCopyType>(operation))
    bits = buffer.getBits();
  else
    return success();

  // Of the operands that the copy moves as a whole: the layouts, and the first that is not one
  // piece.
  SmallVector<Layout, 2> layouts;
  fly::MemRefType scattered;
  for (const CallOperand *operand : {&call.source, &call.destination}) {
    fly::MemRefType type = operand->memref();
    std::optional<Layout> layout = type ? coalesced(type.getLayout()) : std::nullopt;
    if (!layout || staticSize(*layout) * getElementBitWidth(type.getElementType()) != bits)
      continue;
    layouts.push_back(*layout);
    if (!scattered && !isOnePiece(*layout))
      scattered = type;
  }
  if (!scattered)
    return success();
  if (layouts.size() == 2 && layouts[0] == layouts[1] && isGapless(layouts[0]))
    return success();
  return call.op->emitError("the copy moves ")
         << bits << " bits that lie side by side, but the elements of " << scattered
         << " do not; use a narrower copy";
}

} // namespace fly::rocdl
