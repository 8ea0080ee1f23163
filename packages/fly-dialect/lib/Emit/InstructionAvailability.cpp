// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/InstructionAvailability.h"
#include "AMDGPUTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <mutex>

using namespace fly;

namespace {
struct Rule {
  /// How the name begins, behind "rocdl." or "llvm.amdgcn." and with dots for underscores. Of the
  /// rules that fit, those with the longest name count, and those whose name ends in a dot, which
  /// speak of a whole family.
  llvm::StringLiteral name;
  /// What LLVM says of a chip that has it. Which chips those are is not said here.
  llvm::StringLiteral features;
  /// What chips have that lack it: an instruction, or words with spaces.
  llvm::StringLiteral instead = "";
  /// The part of the GPU that executes it, where the chips alone would not explain much.
  llvm::StringLiteral unit = "";
};
} // namespace

static constexpr llvm::StringLiteral clusters = "the workgroup clusters";
static constexpr llvm::StringLiteral dataMover = "the tensor data mover";

// A width that an operand says (of loads to LDS) stands at the end of the name, as in "b128". So
// does a control of update.dpp, and what s.setreg sets.
static constexpr Rule rules[] = {
    // Matrix instructions of CDNA.
    {"mfma.", "+mai-insts", "wmma, if it has matrix instructions"},
    {"smfmac.", "+mai-insts", "wmma, if it has matrix instructions"},
    {"smfmac.", "+gfx940-insts"},
    {"mfma.f32.32x32x4bf16.1k", "+gfx90a-insts", "mfma.f32.32x32x2bf16"},
    {"mfma.f32.16x16x4bf16.1k", "+gfx90a-insts", "mfma.f32.16x16x2bf16"},
    {"mfma.f32.4x4x4bf16.1k", "+gfx90a-insts", "mfma.f32.4x4x2bf16"},
    {"mfma.f32.32x32x8bf16.1k", "+gfx90a-insts", "mfma.f32.32x32x4bf16"},
    {"mfma.f32.16x16x16bf16.1k", "+gfx90a-insts", "mfma.f32.16x16x8bf16"},
    {"mfma.f64.", "+gfx90a-insts"},
    // What gfx942 added, and what it dropped.
    {"mfma.i32.32x32x8i8", "-gfx940-insts", "mfma.i32.32x32x16.i8"},
    {"mfma.i32.16x16x16i8", "-gfx940-insts", "mfma.i32.16x16x32.i8"},
    {"mfma.f32.32x32x2bf16", "-gfx940-insts", "mfma.f32.32x32x4bf16.1k"},
    {"mfma.f32.16x16x2bf16", "-gfx940-insts", "mfma.f32.16x16x4bf16.1k"},
    {"mfma.f32.4x4x2bf16", "-gfx940-insts", "mfma.f32.4x4x4bf16.1k"},
    {"mfma.f32.32x32x4bf16", "-gfx940-insts", "mfma.f32.32x32x8bf16.1k"},
    {"mfma.f32.16x16x8bf16", "-gfx940-insts", "mfma.f32.16x16x16bf16.1k"},
    {"mfma.i32.16x16x32.i8", "+gfx940-insts", "mfma.i32.16x16x16i8"},
    {"mfma.i32.32x32x16.i8", "+gfx940-insts", "mfma.i32.32x32x8i8"},
    {"mfma.f32.16x16x32.fp8", "+fp8-insts"},
    {"mfma.f32.16x16x32.bf8", "+fp8-insts"},
    {"mfma.f32.32x32x16.fp8", "+fp8-insts"},
    {"mfma.f32.32x32x16.bf8", "+fp8-insts"},
    {"mfma.f32.16x16x8.xf32", "+xf32-insts", "mfma.f32.16x16x4f32"},
    {"mfma.f32.32x32x4.xf32", "+xf32-insts", "mfma.f32.32x32x2f32"},
    // What gfx950 added, and what does the same with half the K on its predecessors.
    {"mfma.f32.16x16x32.f16", "+gfx950-insts", "mfma.f32.16x16x16f16"},
    {"mfma.f32.32x32x16.f16", "+gfx950-insts", "mfma.f32.32x32x8f16"},
    {"mfma.f32.16x16x32.bf16", "+gfx950-insts", "mfma.f32.16x16x16bf16.1k"},
    {"mfma.f32.32x32x16.bf16", "+gfx950-insts", "mfma.f32.32x32x8bf16.1k"},
    {"mfma.i32.16x16x64.i8", "+gfx950-insts", "mfma.i32.16x16x32.i8"},
    {"mfma.i32.32x32x32.i8", "+gfx950-insts", "mfma.i32.32x32x16.i8"},
    {"mfma.scale.f32.", "+fp8-insts"},
    {"mfma.scale.f32.", "+gfx950-insts", "mfma of fp8 and bf8, with scales applied by hand"},
    {"smfmac.f32.16x16x64.f16", "+gfx950-insts", "smfmac.f32.16x16x32.f16"},
    {"smfmac.f32.32x32x32.f16", "+gfx950-insts", "smfmac.f32.32x32x16.f16"},
    {"smfmac.f32.16x16x64.bf16", "+gfx950-insts", "smfmac.f32.16x16x32.bf16"},
    {"smfmac.f32.32x32x32.bf16", "+gfx950-insts", "smfmac.f32.32x32x16.bf16"},
    {"smfmac.i32.16x16x128.i8", "+gfx950-insts", "smfmac.i32.16x16x64.i8"},
    {"smfmac.i32.32x32x64.i8", "+gfx950-insts", "smfmac.i32.32x32x32.i8"},
    {"smfmac.f32.16x16x128.", "+gfx950-insts", "smfmac.f32.16x16x64 of fp8 and bf8"},
    {"smfmac.f32.32x32x64.", "+gfx950-insts", "smfmac.f32.32x32x32 of fp8 and bf8"},
    // Matrix instructions of RDNA and of gfx1250.
    {"wmma.", "+gfx11-insts", "mfma"},
    {"swmmac.", "+gfx11-insts", "smfmac"},
    {"swmmac.", "+gfx12-insts", "wmma"},
    {"wmma.f32.16x16x16.f16", "-gfx1250-insts", "wmma.f32.16x16x32.f16"},
    {"wmma.f32.16x16x16.bf16", "-gfx1250-insts", "wmma.f32.16x16x32.bf16"},
    {"wmma.f16.16x16x16.f16", "-gfx1250-insts", "wmma.f16.16x16x32.f16"},
    {"wmma.bf16.16x16x16.bf16", "-gfx1250-insts", "wmma.bf16.16x16x32.bf16"},
    {"wmma.i32.16x16x16.iu8", "-gfx1250-insts", "wmma.i32.16x16x64.iu8"},
    {"wmma.i32.16x16x16.iu4", "-gfx1250-insts"},
    {"wmma.f32.16x16x16.fp8", "+gfx12-insts", "wmma.f32.16x16x16.f16"},
    {"wmma.f32.16x16x16.fp8", "-gfx1250-insts", "wmma.f32.16x16x64.fp8"},
    {"wmma.f32.16x16x16.bf8", "+gfx12-insts", "wmma.f32.16x16x16.f16"},
    {"wmma.f32.16x16x16.bf8", "-gfx1250-insts", "wmma.f32.16x16x64.bf8"},
    {"wmma.i32.16x16x32.iu4", "+gfx12-insts", "wmma.i32.16x16x16.iu4"},
    {"wmma.i32.16x16x32.iu4", "-gfx1250-insts"},
    {"wmma.f32.16x16x4.f32", "+gfx1250-insts"},
    {"wmma.f32.16x16x32.f16", "+gfx1250-insts", "wmma.f32.16x16x16.f16"},
    {"wmma.f32.16x16x32.bf16", "+gfx1250-insts", "wmma.f32.16x16x16.bf16"},
    {"wmma.f16.16x16x32.f16", "+gfx1250-insts", "wmma.f16.16x16x16.f16"},
    {"wmma.bf16.16x16x32.bf16", "+gfx1250-insts", "wmma.bf16.16x16x16.bf16"},
    {"wmma.bf16f32.", "+gfx1250-insts", "wmma.f32.16x16x16.bf16"},
    {"wmma.i32.16x16x64.iu8", "+gfx1250-insts", "wmma.i32.16x16x16.iu8"},
    {"wmma.f32.16x16x64.", "+gfx1250-insts", "wmma.f32.16x16x16.fp8"},
    {"wmma.f16.16x16x64.", "+gfx1250-insts", "wmma.f32.16x16x16.fp8"},
    {"wmma.f32.16x16x128.", "+gfx1250-insts", "wmma.f32.16x16x16.fp8"},
    {"wmma.f16.16x16x128.", "+gfx1250-insts", "wmma.f32.16x16x16.fp8"},
    {"wmma.f32.32x16x128.f4", "+gfx1250-insts"},
    {"wmma.scale.", "+gfx1250-insts"},
    {"wmma.scale16.", "+gfx1250-insts"},
    {"swmmac.f32.16x16x32.f16", "-gfx1250-insts", "swmmac.f32.16x16x64.f16"},
    {"swmmac.f16.16x16x32.f16", "-gfx1250-insts", "swmmac.f16.16x16x64.f16"},
    {"swmmac.f32.16x16x32.bf16", "-gfx1250-insts", "swmmac.f32.16x16x64.bf16"},
    {"swmmac.bf16.16x16x32.bf16", "-gfx1250-insts", "swmmac.bf16.16x16x64.bf16"},
    {"swmmac.i32.16x16x32.iu8", "-gfx1250-insts", "swmmac.i32.16x16x128.iu8"},
    {"swmmac.i32.16x16x32.iu4", "-gfx1250-insts"},
    {"swmmac.f32.16x16x32.fp8", "-gfx1250-insts", "swmmac.f32.16x16x128.fp8"},
    {"swmmac.f32.16x16x32.bf8", "-gfx1250-insts", "swmmac.f32.16x16x128.bf8"},
    {"swmmac.i32.16x16x64.iu4", "-gfx1250-insts"},
    {"swmmac.f32.16x16x64.f16", "+gfx1250-insts", "swmmac.f32.16x16x32.f16"},
    {"swmmac.f16.16x16x64.f16", "+gfx1250-insts", "swmmac.f16.16x16x32.f16"},
    {"swmmac.f32.16x16x64.bf16", "+gfx1250-insts", "swmmac.f32.16x16x32.bf16"},
    {"swmmac.bf16.16x16x64.bf16", "+gfx1250-insts", "swmmac.bf16.16x16x32.bf16"},
    {"swmmac.bf16f32.", "+gfx1250-insts", "swmmac.f32.16x16x32.bf16"},
    {"swmmac.i32.16x16x128.iu8", "+gfx1250-insts", "swmmac.i32.16x16x32.iu8"},
    {"swmmac.f32.16x16x128.", "+gfx1250-insts", "swmmac.f32.16x16x32.fp8"},
    {"swmmac.f16.16x16x128.", "+gfx1250-insts", "swmmac.f32.16x16x32.fp8"},
    // Dot products.
    {"sdot2", "+dot2-insts"},
    {"udot2", "+dot2-insts"},
    {"sudot4", "+dot8-insts"},
    {"sudot8", "+dot8-insts"},
    {"fdot2", "+dot10-insts"},
    {"fdot2.f32.bf16", "+dot12-insts"},
    {"fdot2.f16.f16", "+dot9-insts", "fdot2"},
    {"fdot2.bf16.bf16", "+dot9-insts", "fdot2.f32.bf16"},
    {"dot4.f32.", "+dot11-insts"},
    // Conversions.
    {"cvt.pk.fp8.f32", "+fp8-conversion-insts"},
    {"cvt.pk.f32.fp8", "+fp8-conversion-insts"},
    {"cvt.f32.fp8", "+fp8-conversion-insts"},
    {"cvt.sr.fp8.f32", "+fp8-conversion-insts"},
    {"cvt.pk.bf8.f32", "+fp8-conversion-insts"},
    {"cvt.pk.f32.bf8", "+fp8-conversion-insts"},
    {"cvt.f32.bf8", "+fp8-conversion-insts"},
    {"cvt.sr.bf8.f32", "+fp8-conversion-insts"},
    {"cvt.sr.bf16.f32", "+f32-to-f16bf16-cvt-sr-insts"},
    {"cvt.sr.f16.f32", "+f32-to-f16bf16-cvt-sr-insts"},
    {"cvt.scalef32.pk.", "+gfx950-insts"},
    {"cvt.scalef32.f16.", "+gfx950-insts"},
    {"cvt.scalef32.f32.", "+gfx950-insts"},
    {"cvt.scalef32.pk32.", "+gfx950-insts"},
    {"cvt.scalef32.2xpk16.", "+gfx950-insts"},
    {"cvt.scalef32.sr.pk.", "+gfx950-insts"},
    {"cvt.scalef32.sr.pk32.", "+gfx950-insts"},
    {"cvt.scalef32.sr.fp8.", "+gfx950-insts"},
    {"cvt.scalef32.sr.bf8.", "+gfx950-insts"},
    {"cvt.scale.pk8.", "+gfx1250-insts"},
    {"cvt.scale.pk16.", "+gfx1250-insts"},
    {"cvt.scalef32.pk8.", "+gfx1250-insts"},
    {"cvt.scalef32.pk16.", "+gfx1250-insts"},
    {"cvt.scalef32.sr.pk8.", "+gfx1250-insts"},
    {"cvt.scalef32.sr.pk16.", "+gfx1250-insts"},
    {"tanh", "+gfx1250-insts"},
    // Moves between lanes.
    {"update.dpp.row.bcast", "+gfx9"},
    {"permlane16", "+gfx10-insts"},
    {"permlanex16", "+gfx10-insts"},
    {"permlane16.var", "+gfx12-insts"},
    {"permlanex16.var", "+gfx12-insts"},
    {"permlane16.swap", "+permlane16-swap"},
    {"permlane32.swap", "+permlane32-swap"},
    // Loads to LDS, transposing loads, and prefetches.
    {"raw.ptr.buffer.load.lds", "+vmem-to-lds-load-insts"},
    {"raw.ptr.buffer.load.lds.b96", "+gfx950-insts"},
    {"raw.ptr.buffer.load.lds.b128", "+gfx950-insts"},
    {"global.load.lds", "+vmem-to-lds-load-insts"},
    {"global.load.lds.b96", "+gfx950-insts"},
    {"global.load.lds.b128", "+gfx950-insts"},
    {"load.to.lds", "+vmem-to-lds-load-insts"},
    {"load.to.lds.b96", "+gfx950-insts"},
    {"load.to.lds.b128", "+gfx950-insts"},
    {"asyncmark", "+gfx950-insts"},
    {"wait.asyncmark", "+gfx950-insts"},
    {"global.load.async.to.lds.", "+gfx1250-insts"},
    {"global.store.async.from.lds.", "+gfx1250-insts"},
    {"ds.read.tr", "+gfx950-insts"},
    {"ds.load.tr", "+gfx1250-insts"},
    {"global.load.tr", "+gfx12-insts"},
    {"global.load.tr4", "+gfx1250-insts"},
    {"global.load.tr6", "+gfx1250-insts"},
    {"global.prefetch", "+vmem-pref-insts"},
    {"flat.prefetch", "+vmem-pref-insts"},
    // The tensor data mover.
    {"tensor.load.to.lds", "+gfx1250-insts", "", dataMover},
    {"tensor.store.from.lds", "+gfx1250-insts", "", dataMover},
    {"s.wait.tensorcnt", "+gfx1250-insts", "", dataMover},
    // Clusters. Their numbers are those of workgroups to LLVM where there are none.
    {"cluster.load.", "+clusters", "", clusters},
    {"s.cluster.barrier", "+clusters", "", clusters},
    // Barriers, waits, and modes.
    {"s.barrier.signal", "+gfx12-insts", "s.barrier"},
    {"s.barrier.wait", "+gfx12-insts", "s.barrier"},
    {"s.barrier.leave", "+gfx12-insts"},
    {"s.get.barrier.state", "+gfx12-insts"},
    {"s.wait.loadcnt", "+gfx12-insts", "s.waitcnt"},
    {"s.wait.storecnt", "+gfx12-insts", "s.waitcnt"},
    {"s.wait.dscnt", "+gfx12-insts", "s.waitcnt"},
    {"s.wait.asynccnt", "+gfx1250-insts"},
    {"s.wakeup.barrier", "+s-wakeup-barrier-inst"},
    {"s.waitcnt", "-gfx1250-insts", "s.wait.loadcnt, s.wait.storecnt and s.wait.dscnt"},
    {"ds.atomic.async.barrier.arrive", "+lds-barrier-arrive-atomic"},
    {"ds.atomic.barrier.arrive", "+lds-barrier-arrive-atomic"},
    {"s.setreg.wave.sched.mode", "+gfx1250-insts"},
};

// The chips that a message names, of all that LLVM knows.
static constexpr llvm::StringLiteral named[] = {"gfx908",  "gfx90a",  "gfx942",  "gfx950",
                                                "gfx1100", "gfx1151", "gfx1201", "gfx1250"};

/// What LLVM knows of a chip; null for what is none of AMD's.
static const llvm::MCSubtargetInfo *describe(llvm::StringRef chip) {
  static std::mutex mutex;
  static llvm::StringMap<std::unique_ptr<llvm::MCSubtargetInfo>> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(chip);
  if (!isNew)
    return entry->second.get();
  initializeAMDGPUDescriptions();
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    llvm::reportFatalInternalError(llvm::Twine(message));
  // A generic target such as "gfx9-4-generic" is a name that LLVM knows as it is; a product's has
  // features or a variant behind the chip: "gfx942:xnack-", "gfx1250-strict".
  const llvm::StringRef alone = chip.take_until([](char c) { return c == '-' || c == ':'; });
  std::unique_ptr<llvm::MCSubtargetInfo> any(target->createMCSubtargetInfo(triple, "", ""));
  for (llvm::StringRef name : {chip, alone})
    if (!name.empty() && any->isCPUStringValid(name)) {
      entry->second.reset(target->createMCSubtargetInfo(triple, name, ""));
      break;
    }
  return entry->second.get();
}

static bool has(llvm::StringRef chip, const Rule &rule) {
  const llvm::MCSubtargetInfo *subtarget = describe(chip);
  return subtarget && subtarget->checkFeatures(rule.features);
}

/// What an operation is called in the table; empty for what is no instruction of AMD GPUs.
static std::string nameOf(llvm::StringRef operation) {
  if (!operation.consume_front("llvm.amdgcn.") && !operation.consume_front("rocdl."))
    return "";
  std::string name = operation.str();
  llvm::replace(name, '_', '.');
  return name;
}

static llvm::SmallVector<const Rule *, 4> rulesOf(llvm::StringRef name) {
  size_t longest = 0;
  for (const Rule &rule : rules)
    if (name.starts_with(rule.name))
      longest = std::max(longest, rule.name.size());
  llvm::SmallVector<const Rule *, 4> found;
  for (const Rule &rule : rules)
    if (name.starts_with(rule.name) && (rule.name.size() == longest || rule.name.ends_with(".")))
      found.push_back(&rule);
  return found;
}

/// The named chips that have everything the rules ask for: "gfx942 or gfx950".
static std::string chipsWith(llvm::ArrayRef<const Rule *> asked) {
  llvm::SmallVector<llvm::StringRef, 8> chips;
  for (llvm::StringRef chip : named)
    if (llvm::all_of(asked, [&](const Rule *rule) { return has(chip, *rule); }))
      chips.push_back(chip);
  if (chips.empty())
    return "another chip";
  const llvm::StringRef last = chips.pop_back_val();
  return chips.empty() ? last.str() : llvm::join(chips, ", ") + " or " + last.str();
}

std::optional<MissingInstruction> fly::findMissing(llvm::StringRef operation,
                                                   llvm::StringRef chip) {
  const llvm::SmallVector<const Rule *, 4> asked = rulesOf(nameOf(operation));
  const auto *lacking = llvm::find_if(asked, [&](const Rule *rule) { return !has(chip, *rule); });
  if (lacking == asked.end())
    return std::nullopt;
  const Rule &rule = **lacking;
  MissingInstruction missing{chipsWith(asked), rule.instead.str()};
  if (!rule.unit.empty())
    missing.needs = rule.unit.str() + " of " + missing.needs;
  // What would be there instead may be as new, or as old. Words are no instruction.
  if (missing.instead.find(' ') != std::string::npos)
    return missing;
  if (std::optional<MissingInstruction> more = findMissing("rocdl." + missing.instead, chip))
    missing.instead = more->instead;
  return missing;
}

std::optional<std::string> fly::whyUnavailable(llvm::StringRef operation, llvm::StringRef chip) {
  std::optional<MissingInstruction> missing = findMissing(operation, chip);
  if (!missing)
    return std::nullopt;
  return chip.str() + " has no " + operation.str() +
         (missing->instead.empty() ? ", which needs " + missing->needs
                                   : "; it has " + missing->instead);
}

std::vector<InstructionNeeds> fly::instructionTable() {
  std::vector<InstructionNeeds> table;
  for (const Rule &rule : rules)
    table.push_back({rule.name.str(), rule.features.str()});
  return table;
}
