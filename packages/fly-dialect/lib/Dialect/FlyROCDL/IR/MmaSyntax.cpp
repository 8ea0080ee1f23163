// SPDX-License-Identifier: Apache-2.0
//
// Text of the matrix operations.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "../../AtomSyntax.h"

#include <limits>

using namespace mlir;

namespace fly::rocdl {

namespace {
/// What all matrix operations begin with: `<MxNxK, (A, B) -> C`.
struct MatrixHead {
  SMLoc loc;
  int32_t m = 0, n = 0, k = 0;
  Type a, b, acc;
};
} // namespace

static ParseResult parseHead(AsmParser &parser, MatrixHead &head) {
  SmallVector<int64_t> extents;
  head.loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (extents.size() != 3)
    return parser.emitError(head.loc, "expected 3 dimensions in MNK dimension list");
  for (int64_t extent : extents)
    if (extent > std::numeric_limits<int32_t>::max())
      return parser.emitError(head.loc, "dimension does not fit 32 bits: ") << extent;
  head.m = static_cast<int32_t>(extents[0]);
  head.n = static_cast<int32_t>(extents[1]);
  head.k = static_cast<int32_t>(extents[2]);
  return failure(parser.parseComma() || parser.parseLParen() || parser.parseType(head.a) ||
                 parser.parseComma() || parser.parseType(head.b) || parser.parseRParen() ||
                 parser.parseArrow() || parser.parseType(head.acc));
}

template <typename AtomTy> static void printHead(AsmPrinter &printer, AtomTy atom) {
  printer << '<' << atom.getM() << 'x' << atom.getN() << 'x' << atom.getK() << ", ("
          << atom.getElemTyA() << ", " << atom.getElemTyB() << ") -> " << atom.getElemTyAcc();
}

template <typename AtomTy, typename... Keys>
static Type make(AsmParser &parser, const MatrixHead &head, Keys... keys) {
  return parser.getChecked<AtomTy>(head.loc, parser.getContext(), head.m, head.n, head.k, head.a,
                                   head.b, head.acc, keys...);
}

// --- MFMA
// --------------------------------------------------------------------------------------------------

/// `<HEAD>`, or `<HEAD, key = value>`.
template <typename AtomTy>
static Type parseOneKey(AsmParser &parser, StringRef key, int32_t valueIfElided) {
  MatrixHead head;
  int32_t value = valueIfElided;
  if (parseHead(parser, head) ||
      (succeeded(parser.parseOptionalComma()) && parseKey(parser, key, value)) ||
      parser.parseGreater())
    return {};
  return make<AtomTy>(parser, head, value);
}

template <typename AtomTy>
static void printOneKey(AsmPrinter &printer, AtomTy atom, StringRef key, int32_t value,
                        int32_t valueIfElided) {
  printHead(printer, atom);
  if (value != valueIfElided)
    printKey(printer, key, value);
  printer << '>';
}

Type CDNA3MFMAType::parse(AsmParser &parser) {
  return parseOneKey<CDNA3MFMAType>(parser, "blocks", 1);
}
void CDNA3MFMAType::print(AsmPrinter &printer) const {
  printOneKey(printer, *this, "blocks", getBlocks(), 1);
}

Type CDNA3SMFMACType::parse(AsmParser &parser) {
  return parseOneKey<CDNA3SMFMACType>(parser, "indexSet", 0);
}
void CDNA3SMFMACType::print(AsmPrinter &printer) const {
  printOneKey(printer, *this, "indexSet", getIndexSet(), 0);
}

Type CDNA4MFMAScaleType::parse(AsmParser &parser) {
  MatrixHead head;
  int32_t opselA = 0;
  int32_t opselB = 0;
  if (parseHead(parser, head) || parseNextKey(parser, "opselA", opselA) ||
      parseNextKey(parser, "opselB", opselB) || parser.parseGreater())
    return {};
  return make<CDNA4MFMAScaleType>(parser, head, opselA, opselB);
}

void CDNA4MFMAScaleType::print(AsmPrinter &printer) const {
  printHead(printer, *this);
  printKey(printer, "opselA", getOpselA());
  printKey(printer, "opselB", getOpselB());
  printer << '>';
}

// --- WMMA
// --------------------------------------------------------------------------------------------------

namespace {
struct SignKeys {
  bool signA = false, signB = false, clamp = false;
};
} // namespace

static ParseResult parseSigns(AsmParser &parser, SignKeys &keys) {
  return failure(parseNextKey(parser, "signA", keys.signA) ||
                 parseNextKey(parser, "signB", keys.signB) ||
                 parseNextKey(parser, "clamp", keys.clamp));
}

template <typename AtomTy> static void printSigns(AsmPrinter &printer, AtomTy atom) {
  printKey(printer, "signA", atom.getSignA());
  printKey(printer, "signB", atom.getSignB());
  printKey(printer, "clamp", atom.getClamp());
}

template <typename AtomTy> static Type parseWMMA(AsmParser &parser) {
  MatrixHead head;
  SignKeys keys;
  if (parseHead(parser, head) || parseSigns(parser, keys) || parser.parseGreater())
    return {};
  return make<AtomTy>(parser, head, keys.signA, keys.signB, keys.clamp);
}

template <typename AtomTy> static void printWMMA(AsmPrinter &printer, AtomTy atom) {
  printHead(printer, atom);
  printSigns(printer, atom);
  printer << '>';
}

Type GFX11WMMAType::parse(AsmParser &parser) { return parseWMMA<GFX11WMMAType>(parser); }
void GFX11WMMAType::print(AsmPrinter &printer) const { printWMMA(printer, *this); }
Type GFX120XWMMAType::parse(AsmParser &parser) { return parseWMMA<GFX120XWMMAType>(parser); }
void GFX120XWMMAType::print(AsmPrinter &printer) const { printWMMA(printer, *this); }

Type GFX1250WMMAType::parse(AsmParser &parser) {
  MatrixHead head;
  SignKeys keys;
  int32_t modC = 0;
  if (parseHead(parser, head) || parseSigns(parser, keys))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parseKey(parser, "modC", modC))
    return {};
  if (parser.parseGreater())
    return {};
  return make<GFX1250WMMAType>(parser, head, keys.signA, keys.signB, keys.clamp, modC);
}

void GFX1250WMMAType::print(AsmPrinter &printer) const {
  printHead(printer, *this);
  printSigns(printer, *this);
  if (getModC() != 0)
    printKey(printer, "modC", getModC());
  printer << '>';
}

Type GFX1250WMMAScaleType::parse(AsmParser &parser) {
  MatrixHead head;
  int32_t opselA = 0, opselB = 0, modC = 0, blockSize = 0;
  bool reuseA = false, reuseB = false;
  if (parseHead(parser, head) || parseNextKey(parser, "opselA", opselA) ||
      parseNextKey(parser, "opselB", opselB) || parseNextKey(parser, "modC", modC) ||
      parseNextKey(parser, "reuseA", reuseA) || parseNextKey(parser, "reuseB", reuseB) ||
      parseNextKey(parser, "blockSize", blockSize) || parser.parseGreater())
    return {};
  return make<GFX1250WMMAScaleType>(parser, head, opselA, opselB, modC, reuseA, reuseB, blockSize);
}

void GFX1250WMMAScaleType::print(AsmPrinter &printer) const {
  printHead(printer, *this);
  printKey(printer, "opselA", getOpselA());
  printKey(printer, "opselB", getOpselB());
  printKey(printer, "modC", getModC());
  printKey(printer, "reuseA", getReuseA());
  printKey(printer, "reuseB", getReuseB());
  printKey(printer, "blockSize", getBlockSize());
  printer << '>';
}

} // namespace fly::rocdl
