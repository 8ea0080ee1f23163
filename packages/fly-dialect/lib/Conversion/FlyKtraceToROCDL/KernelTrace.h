// SPDX-License-Identifier: Apache-2.0
//
// Emits what a traced kernel does besides its work.
#ifndef FLY_LIB_CONVERSION_FLYKTRACETOROCDL_KERNELTRACE_H
#define FLY_LIB_CONVERSION_FLYKTRACETOROCDL_KERNELTRACE_H

#include "TraceOptions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fly::ktrace {

/// The trace of the waves of one kernel, whose last argument is the trace buffer.
///
/// A wave counts its events in a variable that each lane has a copy of: lanes that skip events fall
/// behind, and the number of the next event is the largest of the active lanes' copies.
class KernelTrace {
public:
  /// Claims slots and describes the wave at the kernel's entry.
  KernelTrace(mlir::gpu::GPUFuncOp kernel, const TraceOptions &options);

  /// Records an event of this tag at `builder`. Returns the number of its slot in the buffer.
  mlir::Value recordEvent(mlir::ImplicitLocOpBuilder &builder, uint32_t tag, mlir::Value payload);

  /// Records the stop of the range that `token`, the number of a slot, started; 0 is no range.
  void recordStop(mlir::ImplicitLocOpBuilder &builder, uint32_t tag, mlir::Value payload,
                  mlir::Value token);

  /// Brings all active lanes' counts to the same number, where control flow has joined.
  void joinCounts(mlir::ImplicitLocOpBuilder &builder);

  /// Writes the number of events before the kernel ends.
  void finish(mlir::ImplicitLocOpBuilder &builder);

private:
  void countLaunch(mlir::ImplicitLocOpBuilder &builder);
  mlir::Value records(mlir::ImplicitLocOpBuilder &builder, const TraceOptions &options);
  void claimSlots(mlir::ImplicitLocOpBuilder &builder, const TraceOptions &options);
  void describeWave(mlir::ImplicitLocOpBuilder &builder);
  mlir::Value countedEvents(mlir::ImplicitLocOpBuilder &builder);
  mlir::Value storeEvent(mlir::ImplicitLocOpBuilder &builder, uint32_t tag, mlir::Value payload,
                         mlir::Value count, mlir::Value token, mlir::Value isActive);

  mlir::gpu::GPUFuncOp kernel;
  /// The buffer, an !llvm.ptr<1>.
  mlir::Value buffer;
  /// Events so far, an i32 in memory that LLVM turns into a register.
  mlir::Value counter;
  /// Where the wave runs, and which launch it belongs to.
  mlir::Value hardwareId, xccId, dispatchId;
  /// The wave's number in its block, and the block's coordinates.
  mlir::Value wave, block[3];
  /// The wave's slots: the number of the first, and a buffer resource that drops what lies outside.
  mlir::Value firstSlot, resource;
};

} // namespace fly::ktrace

#endif // FLY_LIB_CONVERSION_FLYKTRACETOROCDL_KERNELTRACE_H
