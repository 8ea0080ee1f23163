// SPDX-License-Identifier: Apache-2.0
//
// Which copy operations exist, and their text.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/IR/DialectImplementation.h"

#include <array>

using namespace mlir;

namespace fly::rocdl {

// --- verification
// --------------------------------------------------------------------------------------

LogicalResult CDNA3BufferCopyType::verify(function_ref<InFlightDiagnostic()> emitError,
                                          int32_t bits, int32_t cache) {
  if (bits <= 0)
    return emitError() << "buffer copy must move at least one bit, got " << bits;
  if (cache < 0)
    return emitError() << "cache policy must be non-negative, got " << cache;
  return success();
}

LogicalResult CDNA3BufferCopyLDSType::verify(function_ref<InFlightDiagnostic()> emitError,
                                             int32_t bits) {
  if (bits != 32 && bits != 128)
    return emitError() << "unsupported bitSize = " << bits
                       << " for BufferCopyLDS; expected 32 or 128 (there is no 8-byte LDS DMA "
                          "instruction, and 128 requires gfx950)";
  return success();
}

static LogicalResult verifyAsync(function_ref<InFlightDiagnostic()> emitError, int32_t bits,
                                 StringRef name) {
  if (bits != 32 && bits != 96 && bits != 128)
    return emitError() << "unsupported bitSize = " << bits << " for " << name
                       << "; expected 32, 96 or 128 (there is no 8-byte LDS DMA instruction)";
  return success();
}

LogicalResult CDNA4BufferLoadAsyncLDSType::verify(function_ref<InFlightDiagnostic()> emitError,
                                                  int32_t bits) {
  return verifyAsync(emitError, bits, "BufferLoadAsyncLDS");
}

LogicalResult CDNA4GlobalLoadAsyncLDSType::verify(function_ref<InFlightDiagnostic()> emitError,
                                                  int32_t bits) {
  return verifyAsync(emitError, bits, "GlobalLoadAsyncLDS");
}

LogicalResult CDNA3BufferAtomicType::verify(function_ref<InFlightDiagnostic()> emitError, AtomicOp,
                                            Type valueType) {
  auto vector = dyn_cast<VectorType>(valueType);
  Type element = vector ? vector.getElementType() : valueType;
  bool admissible =
      isElementType(element) && (!vector || (vector.getRank() == 1 && !vector.isScalable()));
  if (!admissible)
    return emitError() << "buffer atomic needs an integer or float scalar or a vector of them, got "
                       << valueType;
  return success();
}

// --- lds_read_trans
// ------------------------------------------------------------------------------------

// The transposed element's width and the bits per lane that the hardware has.
static constexpr std::array<std::pair<int32_t, int32_t>, 4> kTransposedReads = {
    {{4, 64}, {8, 64}, {6, 96}, {16, 64}}};

LogicalResult CDNA4LdsReadTransType::verify(function_ref<InFlightDiagnostic()> emitError,
                                            int32_t granularity, int32_t bits) {
  if (!llvm::is_contained(kTransposedReads, std::make_pair(granularity, bits)))
    return emitError() << "unsupported (bitSize, transGranularity) = (" << bits << ", "
                       << granularity << ") for LDS read transpose";
  return success();
}

// `<trans = 16b, 64>`
Type CDNA4LdsReadTransType::parse(AsmParser &parser) {
  int32_t granularity = 0;
  int32_t bits = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("trans") || parser.parseEqual() ||
      parser.parseInteger(granularity) || parser.parseKeyword("b") || parser.parseComma() ||
      parser.parseInteger(bits) || parser.parseGreater())
    return {};
  return parser.getChecked<CDNA4LdsReadTransType>(loc, parser.getContext(), granularity, bits);
}

void CDNA4LdsReadTransType::print(AsmPrinter &printer) const {
  printer << "<trans = " << getGranularity() << "b, " << getBits() << '>';
}

} // namespace fly::rocdl
