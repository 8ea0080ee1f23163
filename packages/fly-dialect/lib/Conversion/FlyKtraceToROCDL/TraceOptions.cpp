// SPDX-License-Identifier: Apache-2.0
#include "TraceOptions.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace fly::ktrace {

// --- the buffer ----------------------------------------------------------------------------------

/// Reads an integer attribute into `value` if `module` has it.
static LogicalResult readInteger(ModuleOp module, StringRef name, int64_t &value) {
  Attribute attribute = module->getDiscardableAttr(name);
  if (!attribute)
    return success();
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return module.emitError() << "ktrace: " << name << " must be an integer, got " << attribute;
  value = integer.getValue().getSExtValue();
  return success();
}

static LogicalResult readBlocks(ModuleOp module, TraceOptions &options) {
  constexpr StringRef name = "fly_ktrace.blocks";
  Attribute attribute = module->getDiscardableAttr(name);
  if (!attribute)
    return success();
  auto string = dyn_cast<StringAttr>(attribute);
  StringRef text = string ? string.getValue().trim() : StringRef();
  auto refuse = [&]() -> LogicalResult {
    return module.emitError() << "ktrace: " << name
                              << " must be \"x,y,z\" (block coordinates), \"xcc:N\" (N from 0 to "
                                 "15) or \"all\", got "
                              << attribute;
  };
  if (string && (text.empty() || text == "all"))
    return success();
  if (text.consume_front("xcc:")) {
    int32_t xcc = 0;
    if (text.getAsInteger(10, xcc) || xcc < 0 || xcc > 15)
      return refuse();
    options.xcc = xcc;
    return success();
  }
  SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  std::array<int32_t, 3> block{};
  if (parts.size() != block.size())
    return refuse();
  for (auto [part, coordinate] : llvm::zip_equal(parts, block))
    if (part.trim().getAsInteger(10, coordinate) || coordinate < 0)
      return refuse();
  options.block = block;
  return success();
}

FailureOr<TraceOptions> readTraceOptions(ModuleOp module) {
  TraceOptions options;
  // The attribute leaves out one slot.
  int64_t capacity = options.slots - 1;
  if (failed(readInteger(module, "fly_ktrace.capacity_slots", capacity)) ||
      failed(readInteger(module, "fly_ktrace.partitions", options.partitions)) ||
      failed(readBlocks(module, options)))
    return failure();
  // Events find their slots with 32-bit arithmetic.
  constexpr int64_t maxCapacity = std::numeric_limits<int32_t>::max() / slotBytes;
  if (capacity < 0 || capacity > maxCapacity)
    return module.emitError() << "ktrace: fly_ktrace.capacity_slots must be from 0 to "
                              << maxCapacity << " slots of " << slotBytes << " bytes, got "
                              << capacity;
  options.slots = capacity + 1;
  if (options.partitions <= 0 || !llvm::isPowerOf2_64(options.partitions))
    return module.emitError() << "ktrace: fly_ktrace.partitions must be a power of two, got "
                              << options.partitions;
  if (options.partitions > options.slots || options.dataSlots() < slotsPerWave)
    return module.emitError() << "ktrace: a trace buffer of " << options.slots * slotBytes
                              << " bytes has no room for " << options.partitions
                              << " partitions and one wave; make it larger";
  return options;
}

// --- the chip ------------------------------------------------------------------------------------

/// `chip` without its features.
static StringRef architectureOf(StringRef chip) {
  return chip.take_until([](char c) { return c == ':' || c == '-'; });
}

LogicalResult checkChip(gpu::GPUModuleOp gpuModule, StringRef chip) {
  SmallVector<StringRef> chips;
  if (ArrayAttr targets = gpuModule.getTargetsAttr())
    for (auto target : targets.getAsRange<Attribute>())
      if (auto rocdl = dyn_cast<ROCDL::ROCDLTargetAttr>(target))
        chips.push_back(rocdl.getChip());
  if (chips.empty())
    if (auto named = gpuModule->getParentOfType<ModuleOp>()->getDiscardableAttr("fly_ktrace.chip"))
      if (auto string = dyn_cast<StringAttr>(named))
        chips.push_back(string.getValue());
  if (chips.empty() && !chip.empty())
    chips.push_back(chip);
  if (chips.empty())
    return gpuModule.emitError()
           << "ktrace: cannot tell whether waves can read the time: give the gpu.module a "
              "#rocdl.target, or the module around it fly_ktrace.chip = \"...\"";
  for (StringRef each : chips)
    if (!llvm::is_contained(recordingChips, architectureOf(each)))
      return gpuModule.emitError()
             << "ktrace: events cannot be recorded on '" << each << "', only on "
             << llvm::join(ArrayRef(recordingChips), " and ")
             << ": other chips have no s_memrealtime, or have other hardware registers under the "
                "same numbers";
  return success();
}

// --- names ---------------------------------------------------------------------------------------

FailureOr<EventNames> EventNames::of(ModuleOp module) {
  EventNames names;
  constexpr StringRef name = "fly_ktrace.known_event_names";
  Attribute attribute = module->getDiscardableAttr(name);
  if (!attribute)
    return names;
  auto refuse = [&]() -> InFlightDiagnostic {
    return module.emitError() << "ktrace: " << name << " must map names to ids from 1 to "
                              << maxEventId << ", each to its own, got " << attribute;
  };
  auto known = dyn_cast<DictionaryAttr>(attribute);
  if (!known)
    return refuse();
  for (NamedAttribute entry : known) {
    auto id = dyn_cast<IntegerAttr>(entry.getValue());
    if (!id || id.getValue().getSignificantBits() > 32)
      return refuse();
    int64_t value = id.getInt();
    if (value < 1 || value > maxEventId || !names.taken.insert(static_cast<int32_t>(value)).second)
      return refuse();
    names.ids[entry.getName()] = static_cast<int32_t>(value);
    names.last = std::max(names.last, static_cast<int32_t>(value));
  }
  return names;
}

std::optional<uint32_t> EventNames::idOf(StringAttr name) {
  auto known = ids.find(name.getValue());
  if (known != ids.end())
    return known->second;
  if (taken.size() == maxEventId)
    return std::nullopt;
  do
    last = last % maxEventId + 1;
  while (!taken.insert(last).second);
  ids[name.getValue()] = last;
  return last;
}

DictionaryAttr EventNames::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  for (const auto &entry : ids)
    entries.push_back(
        builder.getNamedAttr(entry.getKey(), builder.getI32IntegerAttr(entry.second)));
  return builder.getDictionaryAttr(entries);
}

} // namespace fly::ktrace
