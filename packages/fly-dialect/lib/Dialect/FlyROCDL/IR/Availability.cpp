// SPDX-License-Identifier: Apache-2.0
//
// Which chips have an operation, and what the others have in its place.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Dialect/FlyROCDL/IR/MatrixShapes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fly::rocdl {

namespace {
/// A target, as what has an operation is told in terms of.
struct Target {
  explicit Target(StringRef name)
      : chip(name.take_until([](char c) { return c == '-' || c == ':'; })),
        family(chip.starts_with("gfx9")     ? "cdna"
               : chip.starts_with("gfx11")  ? "rdna3"
               : chip.starts_with("gfx125") ? "gfx1250"
               : chip.starts_with("gfx12")  ? "rdna4"
                                            : "") {}
  StringRef chip;
  StringRef family;
};

/// What has an operation, chips or families, and what there is elsewhere.
struct Needs {
  SmallVector<StringRef, 4> any;
  std::string instead;
};
} // namespace

static bool isFNUZ(Type type) { return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type); }
static bool isOCP(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

// Hints are in the words of the language.
static constexpr StringLiteral ocpFormats = "the OCP formats fx.Float8E4M3FN and fx.Float8E5M2";

static std::string square(StringRef name, int32_t m, int32_t k) {
  return (name + " " + Twine(m) + "x" + Twine(m) + "x" + Twine(k)).str();
}

static Needs needsOf(CDNA3MFMAType type) {
  const Type element = type.getElemTyA();
  const int32_t m = type.getM(), k = type.getK();
  const bool isTwiceTheK = m * k == (element.isInteger(8) ? 1024 : 512) && (m == 16 || m == 32);
  if (isa<FloatTF32Type>(element))
    return {{"gfx940", "gfx941", "gfx942"}, "MFMA of Float32 without xf32, 16x16x4 or 32x32x2"};
  if (type.getBlocks() != 1)
    return {{"cdna"}, "fx.rocdl.WMMA"};
  if (element.isBF16() && m * k == 64 * 2) // Two values of a lane: instructions of CDNA 1 and 2.
    return {{"gfx908", "gfx90a"}, square("MFMA", m, 2 * k)};
  if (isTwiceTheK && element.isInteger(8))
    return {{"gfx950"}, square("MFMA", m, k / 2)};
  if (isTwiceTheK && element.getIntOrFloatBitWidth() == 16)
    return {{"gfx950"}, square("MFMA", m, k / 2) + " on gfx942"};
  if (isFNUZ(element))
    return {{"gfx940", "gfx941", "gfx942"}, ocpFormats.str()};
  if (isOCP(element)) // The bits are passed on as they are; gfx942 reads them as FNUZ.
    return {{"gfx940", "gfx941", "gfx942", "gfx950"}, ""};
  return {{"cdna"}, "fx.rocdl.WMMA"};
}

static Needs needsOf(CDNA3SMFMACType type) {
  const Type element = type.getElemTyA();
  const int32_t m = type.getM(), k = type.getK();
  const int32_t bits = getElementBitWidth(element);
  if (k == (m == 16 ? 1024 : 512) / bits)
    return {{"gfx950"}, square("SMFMAC", m, k / 2)};
  if (isFNUZ(element))
    return {{"gfx940", "gfx941", "gfx942"}, ocpFormats.str()};
  return {{"cdna"}, "fx.rocdl.swmmac_*"};
}

/// Why the fragments of an MFMA that computes several products are not those of one.
static std::optional<std::string> whyNoFragments(CDNA3MFMAType type) {
  const int32_t m = type.getM(), k = type.getK();
  const Type element = type.getElemTyA();
  const int32_t blocks = getMFMABlocks(m, type.getN(), k, element, type.getElemTyB());
  if (type.getBlocks() != 1)
    return std::nullopt;
  if (blocks != 1)
    return "works on several blocks; say blocks=" + std::to_string(blocks) +
           ", or use a shape of one block";
  if (element.isBF16() && k == 2) // What gfx908 had before the instructions of the others' K.
    return "works on several blocks; MFMA of bf16 on one block has a K of at least 4";
  return std::nullopt;
}

static std::string sentence(Type operation, const std::string &rest) {
  std::string text;
  llvm::raw_string_ostream(text) << operation;
  return text.substr(1) + " " + rest; // Without "!".
}

/// Why NVIDIA GPUs have none of these operations.
static std::optional<std::string> whyForeign(Type operation, StringRef name) {
  if (!name.starts_with("sm_"))
    return std::nullopt;
  return sentence(operation,
                  "is an instruction of AMD GPUs, but the kernel is compiled for " + name.str() +
                      "; use " +
                      (isa<MmaOpTypeInterface>(operation) ? "fx.nvgpu.WGMMA or fx.UniversalFMA"
                                                          : "fx.UniversalCopy, with a predicate"));
}

static std::optional<std::string> whyMissing(Type operation, StringRef name, const Needs &needs) {
  if (std::optional<std::string> reason = whyForeign(operation, name))
    return reason;
  const Target target(name);
  if (llvm::is_contained(needs.any, target.chip) || llvm::is_contained(needs.any, target.family))
    return std::nullopt;
  return sentence(operation, "needs " + llvm::join(needs.any, " or ") +
                                 ", but the kernel is compiled for " + name.str() +
                                 (needs.instead.empty() ? "" : "; use " + needs.instead));
}

std::optional<std::string> CDNA3MFMAType::whyUnavailable(StringRef target) const {
  if (std::optional<std::string> reason = whyNoFragments(*this))
    return sentence(*this, *reason);
  return whyMissing(*this, target, needsOf(*this));
}
std::optional<std::string> CDNA3SMFMACType::whyUnavailable(StringRef target) const {
  return whyMissing(*this, target, needsOf(*this));
}
std::optional<std::string> CDNA3BufferCopyLDSType::whyUnavailable(StringRef target) const {
  const Needs wide = {{"gfx950"}, "BufferCopyLDS32b()"}, narrow = {{"cdna"}, ""};
  return whyMissing(*this, target, getBits() == 128 ? wide : narrow);
}

// Every AMD GPU has these.
std::optional<std::string> CDNA3BufferCopyType::whyUnavailable(StringRef target) const {
  return whyForeign(*this, target);
}
std::optional<std::string> CDNA3BufferAtomicType::whyUnavailable(StringRef target) const {
  return whyForeign(*this, target);
}

#define FLY_ROCDL_NEEDS(TYPE, CHIP, INSTEAD)                                                       \
  std::optional<std::string> TYPE::whyUnavailable(StringRef target) const {                        \
    return whyMissing(*this, target, {{CHIP}, INSTEAD});                                           \
  }

FLY_ROCDL_NEEDS(CDNA4LdsReadTransType, "gfx950", "")
FLY_ROCDL_NEEDS(CDNA4BufferLoadAsyncLDSType, "gfx950", "")
FLY_ROCDL_NEEDS(CDNA4GlobalLoadAsyncLDSType, "gfx950", "")
FLY_ROCDL_NEEDS(CDNA4MFMAScaleType, "gfx950", "MFMA and scales applied by hand")
FLY_ROCDL_NEEDS(GFX11WMMAType, "rdna3", "")
FLY_ROCDL_NEEDS(GFX120XWMMAType, "rdna4", "")
FLY_ROCDL_NEEDS(GFX1250WMMAType, "gfx1250", "")
FLY_ROCDL_NEEDS(GFX1250WMMAScaleType, "gfx1250", "")
FLY_ROCDL_NEEDS(GFX1250TDMType, "gfx1250", "")
FLY_ROCDL_NEEDS(CDNA5TensorLoadType, "gfx1250", "")
FLY_ROCDL_NEEDS(CDNA5TensorStoreType, "gfx1250", "")

std::optional<StringRef> getWMMAMnemonic(StringRef target) {
  const StringRef family = Target(target).family;
  if (family == "rdna3")
    return GFX11WMMAType::getMnemonic();
  if (family == "rdna4")
    return GFX120XWMMAType::getMnemonic();
  if (family == "gfx1250")
    return GFX1250WMMAType::getMnemonic();
  return std::nullopt;
}

} // namespace fly::rocdl
