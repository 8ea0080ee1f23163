// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/MatrixInstructions.h"

#include "llvm/ADT/ArrayRef.h"

using namespace fly;

namespace {
/// Instructions of one CDNA generation, by how their names begin.
struct Rule {
  llvm::StringRef prefix;
  llvm::StringRef instead;
};
} // namespace

// What gfx950 added, and what does the same with half the K on its predecessors.
static constexpr Rule gfx950Only[] = {
    {"mfma.f32.16x16x32.f16", "mfma.f32.16x16x16f16"},
    {"mfma.f32.32x32x16.f16", "mfma.f32.32x32x8f16"},
    {"mfma.f32.16x16x32.bf16", "mfma.f32.16x16x16bf16.1k"},
    {"mfma.f32.32x32x16.bf16", "mfma.f32.32x32x8bf16.1k"},
    {"mfma.i32.16x16x64.i8", "mfma.i32.16x16x32.i8"},
    {"mfma.i32.32x32x32.i8", "mfma.i32.32x32x16.i8"},
    {"mfma.scale.f32.", "mfma of fp8 and bf8, with scales applied by hand"},
    {"smfmac.f32.16x16x64.f16", "smfmac.f32.16x16x32.f16"},
    {"smfmac.f32.32x32x32.f16", "smfmac.f32.32x32x16.f16"},
    {"smfmac.f32.16x16x64.bf16", "smfmac.f32.16x16x32.bf16"},
    {"smfmac.f32.32x32x32.bf16", "smfmac.f32.32x32x16.bf16"},
    {"smfmac.i32.16x16x128.i8", "smfmac.i32.16x16x64.i8"},
    {"smfmac.i32.32x32x64.i8", "smfmac.i32.32x32x32.i8"},
    {"smfmac.f32.16x16x128.", "smfmac.f32.16x16x64 of fp8 and bf8"},
    {"smfmac.f32.32x32x64.", "smfmac.f32.32x32x32 of fp8 and bf8"},
};

// What gfx950 dropped.
static constexpr Rule gfx942Only[] = {
    {"mfma.f32.16x16x8.xf32", "mfma.f32.16x16x4f32"},
    {"mfma.f32.32x32x4.xf32", "mfma.f32.32x32x2f32"},
};

static std::optional<llvm::StringRef> insteadOf(llvm::ArrayRef<Rule> rules, llvm::StringRef name) {
  for (const Rule &rule : rules)
    if (name.starts_with(rule.prefix))
      return rule.instead;
  return std::nullopt;
}

std::optional<MissingInstruction> fly::findMissing(llvm::StringRef operation,
                                                   llvm::StringRef chip) {
  llvm::StringRef name = operation;
  if (!name.consume_front("llvm.amdgcn.") && !name.consume_front("rocdl."))
    return std::nullopt;
  const bool isMFMA = name.starts_with("mfma.") || name.starts_with("smfmac.");
  const bool isWMMA = name.starts_with("wmma.") || name.starts_with("swmmac.");
  const bool isCDNA = chip.starts_with("gfx9");
  if (isWMMA && isCDNA)
    return MissingInstruction{"an RDNA GPU or gfx1250", "mfma"};
  if (isMFMA && !isCDNA)
    return MissingInstruction{"a CDNA GPU", "wmma, if it has matrix instructions"};
  if (!isMFMA)
    return std::nullopt;
  if (chip.starts_with("gfx94"))
    if (std::optional<llvm::StringRef> instead = insteadOf(gfx950Only, name))
      return MissingInstruction{"gfx950", instead->str()};
  if (chip.starts_with("gfx95"))
    if (std::optional<llvm::StringRef> instead = insteadOf(gfx942Only, name))
      return MissingInstruction{"gfx942", instead->str()};
  return std::nullopt;
}

std::optional<std::string> fly::whyUnavailable(llvm::StringRef operation, llvm::StringRef chip) {
  std::optional<MissingInstruction> missing = findMissing(operation, chip);
  if (!missing)
    return std::nullopt;
  return chip.str() + " has no " + operation.str() + "; it has " + missing->instead;
}
