// SPDX-License-Identifier: Apache-2.0
//
// What the attributes of a module say about tracing its kernels.
#ifndef FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEOPTIONS_H
#define FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEOPTIONS_H

#include "TraceBuffer.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <array>

namespace fly::ktrace {

struct TraceOptions {
  /// Slots of the whole buffer.
  int64_t slots = defaultSlots;
  /// Counters that share the work of handing out slots; a power of two.
  int64_t partitions = 1;
  /// The one block whose waves record, or none.
  std::optional<std::array<int32_t, 3>> block;
  /// The one XCC whose waves record, or none.
  std::optional<int32_t> xcc;

  int64_t dataSlots() const { return slots - firstWaveSlot(partitions); }
};

/// Reads fly_ktrace.capacity_slots, .partitions and .blocks of `module`; reports what is wrong.
mlir::FailureOr<TraceOptions> readTraceOptions(mlir::ModuleOp module);

/// Checks that the kernels of `gpuModule` are compiled for chips whose waves can read the time and
/// their place. `chip` is used where neither the targets nor the module around name one.
mlir::LogicalResult checkChip(mlir::gpu::GPUModuleOp gpuModule, llvm::StringRef chip);

/// The ids of event names.
class EventNames {
public:
  /// Starts from the names of fly_ktrace.known_event_names, which keep their ids.
  static mlir::FailureOr<EventNames> of(mlir::ModuleOp module);

  /// The id of `name`, a new one if it has none; nothing if all ids are taken.
  std::optional<uint32_t> idOf(mlir::StringAttr name);

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;

private:
  llvm::StringMap<int32_t> ids;
  llvm::DenseSet<int32_t> taken;
  /// The id that was given last; at first, the largest of known names.
  int32_t last = 0;
};

} // namespace fly::ktrace

#endif // FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEOPTIONS_H
