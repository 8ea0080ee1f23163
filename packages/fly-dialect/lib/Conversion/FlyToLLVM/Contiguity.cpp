// SPDX-License-Identifier: Apache-2.0
#include "Contiguity.h"
#include "Addressing.h"
#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Modes.h"
#include "fly/Dialect/Fly/IR/AtomOpInterface.h"

using namespace mlir;

namespace fly::lowering {

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
  std::optional<int64_t> bits;
  if (auto copy = dyn_cast<UniversalCopyType>(operation))
    bits = copy.getBits();
  else if (auto own = dyn_cast<AtomOpTypeInterface>(operation))
    bits = own.getOperandBits();
  if (!bits)
    return success();

  // Of the operands that the copy moves as a whole: the layouts, and the first that is not one
  // piece.
  SmallVector<Layout, 2> layouts;
  fly::MemRefType scattered;
  for (const CallOperand *operand : {&call.source, &call.destination}) {
    fly::MemRefType type = operand->memref();
    std::optional<Layout> layout = type ? coalesced(type.getLayout()) : std::nullopt;
    if (!layout || staticSize(*layout) * getElementBitWidth(type.getElementType()) != *bits)
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
         << *bits << " bits that lie side by side, but the elements of " << scattered
         << " do not; use a narrower copy";
}

bool keepsWhole(const Swizzle &swizzle, int64_t bits, int64_t alignment) {
  if (swizzle.isTrivial())
    return true;
  if (swizzle.base < 0 || swizzle.base >= 31 || bits <= 0)
    return false;
  // What is as long as a divisor of the swizzle's pieces is taken to begin at a multiple of it.
  const int64_t bytes = llvm::divideCeil(bits, 8), piece = int64_t(1) << swizzle.base;
  return piece % bytes == 0 || (bytes <= piece && alignment % piece == 0);
}

/// `type` is that of the operand: a memref or a pointer.
static LogicalResult checkSwizzle(Operation *op, StringRef operand, Type type,
                                  const Swizzle &swizzle, int64_t bits, int64_t alignment) {
  if (keepsWhole(swizzle, bits, alignment))
    return success();
  InFlightDiagnostic diagnostic = op->emitError("the access moves ")
                                  << bits << " bits that lie side by side, but the swizzle "
                                  << swizzle.str() << " of the " << operand << ' ' << type;
  if (swizzle.base >= 0 && swizzle.base < 31)
    diagnostic << " keeps only " << (int64_t(8) << swizzle.base)
               << " together: the base of a pointer's swizzle counts bytes, 2^" << swizzle.base;
  else
    diagnostic << " has no such base";
  return diagnostic << "; use a swizzle with a base of at least "
                    << llvm::Log2_64_Ceil(llvm::divideCeil(bits, 8))
                    << ", or a narrower atom or access";
}

LogicalResult checkSwizzle(Operation *op, StringRef operand, fly::MemRefType type, int64_t bits) {
  return checkSwizzle(op, operand, type, type.getSwizzle(), bits, type.getAlignment());
}

LogicalResult checkSwizzle(Operation *op, fly::PointerType type, Type value) {
  if (!isa<VectorType>(value))
    return success();
  return checkSwizzle(op, "pointer", type, type.getSwizzle(), bitWidthOf(value), /*alignment=*/1);
}

/// Whether the lowering of an atom applies the swizzle of an operand.
static bool appliesSwizzle(Type operation, bool isSource) {
  auto own = dyn_cast<AtomOpTypeInterface>(operation);
  return !own ||
         own.getUnswizzledOperand() != (isSource ? CopyOperand::Source : CopyOperand::Destination);
}

LogicalResult checkSwizzles(Type operation, const CopyCall &call) {
  auto copy = dyn_cast<CopyOpTypeInterface>(operation);
  if (!copy || copy.isWholeTileCopy())
    return success();
  for (const bool isSource : {true, false}) {
    const CallOperand &operand = isSource ? call.source : call.destination;
    fly::MemRefType type = operand.memref();
    if (!type)
      continue;
    const StringRef name = isSource ? "source" : "destination";
    if (type.getLayout().isComposed())
      return call.op->emitError("the ") << name << ' ' << type
                                        << " has a composed layout, which fly-layout-lowering or "
                                           "fly.decomposition takes apart";
    AlgebraContext sizes;
    const Layout layout = isSource ? copy.getSourceBitLayout() : copy.getDestinationBitLayout();
    const IntTuple bits = layoutSize(sizes, getMode(sizes, layout, {1}));
    if (appliesSwizzle(operation, isSource) && !sizes.failed() && bits.isStaticLeaf() &&
        failed(checkSwizzle(call.op, name, type, bits.staticValue())))
      return failure();
  }
  return success();
}

} // namespace fly::lowering
