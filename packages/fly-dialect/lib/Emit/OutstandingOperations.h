// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H
#define FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class MDNode;
}

namespace fly {

/// The waits for copies to LDS that a function names by what they write, see `CountCopyWaits`.
///
/// A group is a list of alias scopes, those of LDS variables, or null: all of LDS. Copies belong to
/// each group that they may write to.
struct CopyGroups {
  llvm::SmallVector<const llvm::MDNode *, 8> scopes;

  /// Those of the function, in the order of their numbers.
  static CopyGroups of(const llvm::Function &function);
  /// Writes them to the function, where `of` finds them.
  void attach(llvm::Function &function) const;
  /// Whether `load`, which is one to LDS, may write what `group` names.
  bool mayWrite(const llvm::MachineInstr &load, unsigned group) const;

  /// As many groups as have numbers.
  static constexpr unsigned most = 0x7FFF;
  /// The operand of S_WAITCNT that waits for the copies of `group`, until its counters are
  /// computed: what the hardware would read of it waits for everything.
  static int64_t markerOf(unsigned group) { return int64_t(group + 1) << 16; }
  /// The group of a wait whose counters are still to be computed.
  static std::optional<unsigned> groupOf(const llvm::MachineInstr &wait);
};

/// Whether `instruction` is a load straight to LDS.
bool isLoadToLds(const llvm::MachineInstr &instruction);

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
    /// The same for the loads of each of the function's `CopyGroups`.
    llvm::SmallVector<std::optional<uint8_t>, 8> youngestOfGroup;

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
  /// Brings `state` behind `instruction`.
  void step(State &state, const llvm::MachineInstr &instruction) const;

  llvm::MachineFunction &function;
  CopyGroups groups;
  unsigned generation;                       ///< of the chip
  std::vector<std::optional<State>> onEntry; // by number of the block
};

/// The operand of S_WAITCNT that waits until at most `count` vector memory operations are
/// outstanding, and for nothing else. For chips before gfx12.
int64_t encodeVmcnt(const llvm::MachineFunction &function, unsigned count);

} // namespace fly

#endif // FLY_LIB_EMIT_OUTSTANDINGOPERATIONS_H
