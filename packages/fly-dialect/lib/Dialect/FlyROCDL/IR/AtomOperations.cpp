// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/FlyROCDL/IR/AtomOperations.h"

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::rocdl {

// --- state
// --------------------------------------------------------------------------------------------

ArrayRef<StringLiteral> getStateMembers(Type operation) {
  using Names = ArrayRef<StringLiteral>;
  static constexpr StringLiteral buffer[] = {"soffset", "imm_offset"};
  static constexpr StringLiteral sparse[] = {"sparse_index"};
  static constexpr StringLiteral scales[] = {"scale_a", "scale_b"};
  static constexpr StringLiteral mover[] = {"workgroup_mask", "extent_0", "extent_1",  "extent_2",
                                            "extent_3",       "extent_4", "stride_0",  "stride_1",
                                            "stride_2",       "stride_3", "imm_offset"};
  static constexpr StringLiteral load[] = {"workgroup_mask", "early_timeout",
                                           "atomic_barrier_addr"};
  static constexpr StringLiteral store[] = {"atomic_barrier_addr"};
  return llvm::TypeSwitch<Type, Names>(operation)
      .Case<CDNA3BufferCopyType, CDNA3BufferAtomicType>([](Type) { return Names(buffer, 1); })
      .Case<CDNA3BufferCopyLDSType, CDNA4BufferLoadAsyncLDSType>([](Type) { return Names(buffer); })
      .Case([](CDNA3SMFMACType) { return Names(sparse); })
      .Case<CDNA4MFMAScaleType, GFX1250WMMAScaleType>([](Type) { return Names(scales); })
      .Case([](GFX1250TDMType) { return Names(mover); })
      .Case([](CDNA5TensorLoadType type) {
        return Names(load).drop_back(type.getAtomicBarrier() ? 0 : 1);
      })
      .Case([](CDNA5TensorStoreType type) {
        return Names(store).drop_back(type.getAtomicBarrier() ? 0 : 1);
      })
      .Default([](Type) { return Names(); });
}

SmallVector<StringRef> getStateFields(Type operation) {
  SmallVector<StringRef> fields(getStateMembers(operation));
  if (isa<CDNA5TensorLoadType, CDNA5TensorStoreType>(operation))
    fields.push_back("boundary_check"); // One number per mode of the tensor, for several members.
  return fields;
}

// --- chips
// --------------------------------------------------------------------------------------------

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

static Needs needsOf(Type operation) {
  return llvm::TypeSwitch<Type, Needs>(operation)
      .Case<CDNA3MFMAType, CDNA3SMFMACType>([](auto type) { return needsOf(type); })
      .Case([](CDNA3BufferCopyLDSType type) {
        return type.getBits() == 128 ? Needs{{"gfx950"}, "BufferCopyLDS32b()"}
                                     : Needs{{"cdna"}, ""};
      })
      .Case<CDNA4LdsReadTransType, CDNA4BufferLoadAsyncLDSType, CDNA4GlobalLoadAsyncLDSType>(
          [](Type) { return Needs{{"gfx950"}, ""}; })
      .Case([](CDNA4MFMAScaleType) { return Needs{{"gfx950"}, "MFMA and scales applied by hand"}; })
      .Case([](GFX11WMMAType) { return Needs{{"rdna3"}, ""}; })
      .Case([](GFX120XWMMAType) { return Needs{{"rdna4"}, ""}; })
      .Case<GFX1250WMMAType, GFX1250WMMAScaleType, GFX1250TDMType, CDNA5TensorLoadType,
            CDNA5TensorStoreType>([](Type) { return Needs{{"gfx1250"}, ""}; })
      .Default([](Type) { return Needs(); });
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
  if (element.isBF16() && k == 2) // What gfx908 had before the forms of the others' K.
    return "works on several blocks; MFMA of bf16 on one block has a K of at least 4";
  return std::nullopt;
}

std::optional<std::string> whyUnavailable(Type operation, StringRef name) {
  auto sentence = [&](const std::string &rest) {
    std::string text;
    llvm::raw_string_ostream(text) << operation;
    return text.substr(1) + " " + rest; // Without "!".
  };
  if (auto mfma = dyn_cast<CDNA3MFMAType>(operation))
    if (std::optional<std::string> reason = whyNoFragments(mfma))
      return sentence(*reason);
  const Target target(name);
  Needs needs = needsOf(operation);
  if (needs.any.empty() || llvm::is_contained(needs.any, target.chip) ||
      llvm::is_contained(needs.any, target.family))
    return std::nullopt;
  return sentence("needs " + llvm::join(needs.any, " or ") + ", but the kernel is compiled for " +
                  name.str() + (needs.instead.empty() ? "" : "; use " + needs.instead));
}

// --- operands
// --------------------------------------------------------------------------------------------

std::optional<CopyOperand> getUnswizzledOperand(Type operation) {
  if (isa<CDNA3BufferCopyLDSType, CDNA4BufferLoadAsyncLDSType, CDNA4GlobalLoadAsyncLDSType>(
          operation))
    return CopyOperand::Destination;
  if (isa<CDNA4LdsReadTransType>(operation))
    return CopyOperand::Source;
  return std::nullopt;
}

std::optional<int32_t> getOperandBits(Type operation) {
  if (auto copy = dyn_cast<UniversalCopyType>(operation))
    return copy.getBits();
  if (auto copy = dyn_cast<CDNA3BufferCopyType>(operation))
    return copy.getBits();
  return std::nullopt;
}

} // namespace fly::rocdl
