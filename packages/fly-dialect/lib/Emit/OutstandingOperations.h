// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H
#define FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/CodeGen/MachineFunction.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fly {

/// How many memory operations of AMD machine code may be outstanding, on any path, where an
/// instruction begins.
///
/// Instructions are told apart by their names, because AMDGPU's headers are private. What has an
/// unknown name and touches memory counts as outstanding everywhere.
class OutstandingOperations {
public:
  /// The counters of gfx12. Older chips have fewer: `Load` is their vmcnt, `Lds` their lgkmcnt.
  enum Counter : uint8_t { Load, Store, Lds, Scalar, Sample, Bvh, numCounters };
  /// Larger than any count that an instruction can wait for.
  static constexpr uint8_t many = 64;

  struct State {
    /// Upper bounds.
    std::array<uint8_t, numCounters> outstanding{};
    /// The least number of operations of the same counter that were issued after a load straight to
    /// LDS that may be outstanding; nothing when there is no such load.
    std::optional<uint8_t> youngestLoadToLds;

    /// Whether the wait instruction `wait` may have to wait. True for what is no wait of a counter.
    bool hasWorkFor(const llvm::MachineInstr &wait) const;
    /// Becomes what holds for both; returns whether that changed anything.
    bool join(const State &other);
  };

  explicit OutstandingOperations(llvm::MachineFunction &function);

  /// Calls `visitor` for all instructions that can be reached. It may replace the instruction or
  /// insert others before it.
  void visit(llvm::function_ref<void(llvm::MachineInstr &, const State &)> visitor);

private:
  llvm::MachineFunction &function;
  std::vector<std::optional<State>> onEntry; // by number of the block
};

/// The operand of S_WAITCNT that waits until at most `count` vector memory operations are
/// outstanding, and for nothing else. For chips before gfx12.
int64_t encodeVmcnt(const llvm::MachineFunction &function, unsigned count);

} // namespace fly

#endif // FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H
