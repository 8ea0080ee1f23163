// SPDX-License-Identifier: Apache-2.0
//
// Which copy operations exist, and their text.

#include "fly/Dialect/FlyROCDL/IR/CopyWidths.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace fly::rocdl {

// There is no 8-byte load to LDS.
static constexpr CopyWidth loadsToLDS[] = {{32}, {128}};
static constexpr CopyWidth asyncLoadsToLDS[] = {{32}, {96}, {128}};
static constexpr CopyWidth transposedReads[] = {{64, 4}, {64, 8}, {64, 16}, {96, 6}};

ArrayRef<CopyWidth> getCopyWidths(StringRef operation) {
  return llvm::StringSwitch<ArrayRef<CopyWidth>>(operation)
      .Case(CDNA3BufferCopyLDSType::getMnemonic(), loadsToLDS)
      .Cases(
          {CDNA4BufferLoadAsyncLDSType::getMnemonic(), CDNA4GlobalLoadAsyncLDSType::getMnemonic()},
          asyncLoadsToLDS)
      .Case(CDNA4LdsReadTransType::getMnemonic(), transposedReads)
      .Default({});
}

static bool hasWidth(StringRef operation, int32_t bits, int32_t granularity = 0) {
  return llvm::any_of(getCopyWidths(operation), [&](const CopyWidth &width) {
    return width.bits == bits && width.granularity == granularity;
  });
}

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
  if (!hasWidth(getMnemonic(), bits))
    return emitError() << "unsupported bitSize = " << bits
                       << " for BufferCopyLDS; expected 32 or 128 (there is no 8-byte LDS DMA "
                          "instruction, and 128 requires gfx950)";
  return success();
}

static LogicalResult verifyAsync(function_ref<InFlightDiagnostic()> emitError, int32_t bits,
                                 StringRef operation, StringRef name) {
  if (!hasWidth(operation, bits))
    return emitError() << "unsupported bitSize = " << bits << " for " << name
                       << "; expected 32, 96 or 128 (there is no 8-byte LDS DMA instruction)";
  return success();
}

LogicalResult CDNA4BufferLoadAsyncLDSType::verify(function_ref<InFlightDiagnostic()> emitError,
                                                  int32_t bits) {
  return verifyAsync(emitError, bits, getMnemonic(), "BufferLoadAsyncLDS");
}

LogicalResult CDNA4GlobalLoadAsyncLDSType::verify(function_ref<InFlightDiagnostic()> emitError,
                                                  int32_t bits) {
  return verifyAsync(emitError, bits, getMnemonic(), "GlobalLoadAsyncLDS");
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

LogicalResult CDNA4LdsReadTransType::verify(function_ref<InFlightDiagnostic()> emitError,
                                            int32_t granularity, int32_t bits) {
  if (!hasWidth(getMnemonic(), bits, granularity))
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
