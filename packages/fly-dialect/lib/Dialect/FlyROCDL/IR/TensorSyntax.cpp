// SPDX-License-Identifier: Apache-2.0
//
// Which tensor data movers exist, and their text.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "fly/Dialect/Fly/IR/AsmText.h"

#include "../../AtomSyntax.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace fly::rocdl {

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyPadding(EmitError emitError, int32_t interval, int32_t amount) {
  if ((interval == 0) != (amount == 0))
    return emitError() << "padInterval and padAmount must both be zero or both non-zero, got "
                       << interval << " and " << amount;
  if (interval < 0 || amount < 0)
    return emitError() << "padInterval and padAmount must be non-negative, got " << interval << ", "
                       << amount;
  if (interval != 0 && !llvm::isPowerOf2_32(interval))
    return emitError() << "padInterval must be a power of two (in elements), got " << interval;
  return success();
}

// --- gfx1250.tdm
// ---------------------------------------------------------------------------------------

LogicalResult GFX1250TDMType::verify(EmitError emitError, int32_t rank, int32_t numWarps,
                                     int32_t padInterval, int32_t padAmount, int32_t cache, bool,
                                     bool) {
  if (rank < 1 || rank > 5)
    return emitError() << "TDM rank must be in [1, 5], got " << rank;
  if (numWarps <= 0 || !llvm::isPowerOf2_32(numWarps))
    return emitError() << "numWarps must be a positive power of two, got " << numWarps;
  if (cache < 0)
    return emitError() << "cache must be non-negative, got " << cache;
  return verifyPadding(emitError, padInterval, padAmount);
}

// `<rank = R, warps = W, pad = I, A, cache = C, barrier = b, timeout = b>`
Type GFX1250TDMType::parse(AsmParser &parser) {
  int32_t rank = 0, numWarps = 0, padInterval = 0, padAmount = 0, cache = 0;
  bool barrier = false, timeout = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseKey(parser, "rank", rank) ||
      parseNextKey(parser, "warps", numWarps) || parseNextKey(parser, "pad", padInterval) ||
      parser.parseComma() || parser.parseInteger(padAmount) ||
      parseNextKey(parser, "cache", cache) || parseNextKey(parser, "barrier", barrier) ||
      parseNextKey(parser, "timeout", timeout) || parser.parseGreater())
    return {};
  return parser.getChecked<GFX1250TDMType>(loc, parser.getContext(), rank, numWarps, padInterval,
                                           padAmount, cache, barrier, timeout);
}

void GFX1250TDMType::print(AsmPrinter &printer) const {
  printer << "<rank = " << getRank();
  printKey(printer, "warps", getNumWarps());
  printKey(printer, "pad", getPadInterval());
  printer << ", " << getPadAmount();
  printKey(printer, "cache", getCache());
  printKey(printer, "barrier", getBarrier());
  printKey(printer, "timeout", getTimeout());
  printer << '>';
}

// --- cdna5.tensor_load and tensor_store
// ----------------------------------------------------------------

namespace {
struct TensorKeys {
  SMLoc loc;
  SmallVector<int32_t> shape;
  Type elem;
  IntTuple tensorToTDM;
  bool atomicBarrier = false;
  int32_t cacheModifier = 0, iterCount = 1, padInterval = 0, padAmount = 0;
};
} // namespace

static ParseResult parseTensorHead(AsmParser &parser, TensorKeys &keys) {
  keys.loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("shape") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(keys.shape.emplace_back()); }) ||
      parser.parseComma() || parser.parseKeyword("elem") || parser.parseEqual() ||
      parser.parseType(keys.elem) || parser.parseComma() || parser.parseKeyword("tensor2tdm") ||
      parser.parseEqual())
    return failure();
  FailureOr<IntTuple> map = parseText(parser, parseIntTuple);
  if (failed(map))
    return failure();
  keys.tensorToTDM = *map;
  return success();
}

// The optional keys, in any order, each at most once.
static ParseResult parseTensorTail(AsmParser &parser, TensorKeys &keys, bool hasPadding) {
  SmallVector<StringRef, 5> seen;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key, word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, key))
      return parser.emitError(loc, "duplicate or unknown struct parameter name: ") << key;
    seen.push_back(key);
    int32_t *number = key == "cacheModifier"               ? &keys.cacheModifier
                      : key == "iterCount"                 ? &keys.iterCount
                      : hasPadding && key == "padInterval" ? &keys.padInterval
                      : hasPadding && key == "padAmount"   ? &keys.padAmount
                                                           : nullptr;
    if (number) {
      if (parser.parseInteger(*number))
        return failure();
    } else if (key == "atomicBarrier") {
      if (parser.parseKeyword(&word))
        return failure();
      if (word != "true" && word != "false")
        return parser.emitError(loc, "expected atomicBarrier to be true or false");
      keys.atomicBarrier = word == "true";
    } else {
      return parser.emitError(loc, "duplicate or unknown struct parameter name: ") << key;
    }
  }
  return parser.parseGreater();
}

template <typename AtomTy> static void printTensorCommon(AsmPrinter &printer, AtomTy atom) {
  printer << "<shape = [";
  llvm::interleaveComma(atom.getShape(), printer.getStream());
  printer << "], elem = " << atom.getElem() << ", tensor2tdm = ";
  printer.getStream() << atom.getTensorToTDM();
  if (atom.getAtomicBarrier())
    printKey(printer, "atomicBarrier", true);
  if (atom.getCacheModifier() != 0)
    printKey(printer, "cacheModifier", atom.getCacheModifier());
  if (atom.getIterCount() != 1)
    printKey(printer, "iterCount", atom.getIterCount());
}

// Each leaf is a basis element of an existing dim, or 0: a mode that no dim stands for. `mode` is
// the tensor's mode that the leaf belongs to.
static LogicalResult verifyMap(EmitError emitError, const IntTuple &map, unsigned rank,
                               unsigned mode) {
  if (map.isTuple()) {
    for (const IntTuple &part : map.modes())
      if (failed(verifyMap(emitError, part, rank, mode)))
        return failure();
    return success();
  }
  if (map.isStaticInt(0))
    return success();
  if (!map.isBasis())
    return emitError() << "TDM tensor2tdm mode " << mode << " must be a basis stride or 0, got "
                       << map.str();
  if (map.path().size() != 1)
    return emitError() << "TDM tensor2tdm mode " << mode << " must name one descriptor dim, got "
                       << map.str();
  if (map.path().front() >= rank)
    return emitError() << "TDM tensor2tdm mode " << mode << " lands on dim " << map.path().front()
                       << ", which is not a descriptor dim in [0, " << rank << ")";
  return success();
}

static LogicalResult verifyTensor(EmitError emitError, ArrayRef<int32_t> shape, Type elem,
                                  const IntTuple &map, int32_t cacheModifier, int32_t iterCount,
                                  bool padded) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "TDM rank must be in [1, 5], got " << shape.size();
  int64_t elements = 1;
  for (int32_t extent : shape) {
    if (extent < 1 || extent > 65535)
      return emitError() << "TDM tile shape dims must be in [1, 65535], got " << extent;
    elements *= extent;
    // A box is a part of LDS; this keeps its bit layout in 32 bits.
    if (elements > (1 << 20))
      return emitError() << "TDM box has more elements than LDS can hold";
  }
  if (!llvm::is_contained({8, 16, 32, 64}, getElementBitWidth(elem)))
    return emitError() << "TDM element width must be one of 8, 16, 32 or 64 bits, got " << elem;
  if (cacheModifier < 0)
    return emitError() << "cacheModifier must be non-negative, got " << cacheModifier;
  if (iterCount < 1 || iterCount > 256)
    return emitError() << "TDM iterCount must be in [1, 256], got " << iterCount;
  if (iterCount > 1 && shape.size() > 2)
    return emitError()
           << "TDM descriptor iteration takes dim 2's stride for its own, so it needs a "
              "descriptor of at most 2 dims, got "
           << shape.size();
  if (iterCount > 1 && padded)
    return emitError() << "TDM descriptor iteration and LDS padding are not modelled together";
  if (elements * iterCount * getElementBitWidth(elem) > std::numeric_limits<int32_t>::max())
    return emitError() << "TDM box has more elements than LDS can hold";
  for (auto [mode, part] : llvm::enumerate(map.isTuple() ? map.modes() : ArrayRef(map)))
    if (failed(verifyMap(emitError, part, shape.size(), mode)))
      return failure();
  return success();
}

LogicalResult CDNA5TensorLoadType::verify(EmitError emitError, ArrayRef<int32_t> shape, Type elem,
                                          IntTuple tensorToTDM, bool, // NOLINT: declared by ODS
                                          int32_t cacheModifier, int32_t iterCount,
                                          int32_t padInterval, int32_t padAmount) {
  if (failed(verifyTensor(emitError, shape, elem, tensorToTDM, cacheModifier, iterCount,
                          padInterval != 0)))
    return failure();
  return verifyPadding(emitError, padInterval, padAmount);
}

LogicalResult CDNA5TensorStoreType::verify(EmitError emitError, ArrayRef<int32_t> shape, Type elem,
                                           IntTuple tensorToTDM, bool, // NOLINT: declared by ODS
                                           int32_t cacheModifier, int32_t iterCount) {
  return verifyTensor(emitError, shape, elem, tensorToTDM, cacheModifier, iterCount,
                      /*padded=*/false);
}

Type CDNA5TensorLoadType::parse(AsmParser &parser) {
  TensorKeys keys;
  if (parseTensorHead(parser, keys) || parseTensorTail(parser, keys, /*hasPadding=*/true))
    return {};
  return parser.getChecked<CDNA5TensorLoadType>(
      keys.loc, parser.getContext(), ArrayRef<int32_t>(keys.shape), keys.elem, keys.tensorToTDM,
      keys.atomicBarrier, keys.cacheModifier, keys.iterCount, keys.padInterval, keys.padAmount);
}

void CDNA5TensorLoadType::print(AsmPrinter &printer) const {
  printTensorCommon(printer, *this);
  if (getPadInterval() != 0)
    printKey(printer, "padInterval", getPadInterval());
  if (getPadAmount() != 0)
    printKey(printer, "padAmount", getPadAmount());
  printer << '>';
}

Type CDNA5TensorStoreType::parse(AsmParser &parser) {
  TensorKeys keys;
  if (parseTensorHead(parser, keys) || parseTensorTail(parser, keys, /*hasPadding=*/false))
    return {};
  return parser.getChecked<CDNA5TensorStoreType>(
      keys.loc, parser.getContext(), ArrayRef<int32_t>(keys.shape), keys.elem, keys.tensorToTDM,
      keys.atomicBarrier, keys.cacheModifier, keys.iterCount);
}

void CDNA5TensorStoreType::print(AsmPrinter &printer) const {
  printTensorCommon(printer, *this);
  printer << '>';
}

} // namespace fly::rocdl
