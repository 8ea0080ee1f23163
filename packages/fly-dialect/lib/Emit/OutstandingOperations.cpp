// SPDX-License-Identifier: Apache-2.0
#include "OutstandingOperations.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Metadata.h"
#include "llvm/TargetParser/TargetParser.h"

#include <algorithm>

using namespace llvm;
using namespace fly;

using Counter = OutstandingOperations::Counter;
using State = OutstandingOperations::State;

namespace {

unsigned generationOf(const MachineFunction &function) {
  return AMDGPU::getIsaVersion(function.getSubtarget().getCPU()).Major;
}

/// A set of counters.
using Counters = uint8_t;
constexpr Counters only(Counter counter) { return Counters(1U << counter); }
constexpr Counters vectorLoads = only(Counter::Load) | only(Counter::Sample) | only(Counter::Bvh);
constexpr Counters allCounters = Counters((1U << OutstandingOperations::numCounters) - 1);

/// The counters of gfx12 as a chip of `generation` has them: before, vmcnt is all vector loads and,
/// on gfx9, stores as well; lgkmcnt is LDS and scalar loads.
Counters merged(Counters counters, unsigned generation) {
  if (generation >= 12)
    return counters;
  auto fold = [&](Counters from, Counter into) {
    if (counters & from)
      counters = Counters((counters & ~from) | only(into));
  };
  fold(vectorLoads, Counter::Load);
  if (generation < 10)
    fold(only(Counter::Store), Counter::Load);
  fold(only(Counter::Scalar), Counter::Lds);
  return counters;
}

/// One field of a wait: at most `count` operations of `counter` stay outstanding.
struct Bound {
  Counter counter;
  uint8_t count;
};

/// A bit field of the operand of a wait; all ones mean "any number".
struct Field {
  unsigned shift, width;
  unsigned read(uint64_t operand) const { return operand >> shift & maxUIntN(width); }
};

/// The fields of S_WAITCNT.
struct WaitcntLayout {
  Field vmLow, vmHigh, exp, lgkm;
  static WaitcntLayout of(unsigned generation) {
    if (generation >= 11)
      return {{10, 6}, {0, 0}, {0, 3}, {4, 6}};
    return {{0, 4}, {14, 2}, {4, 3}, {8, generation == 10 ? 6U : 4U}};
  }
  unsigned vm(uint64_t operand) const {
    return vmLow.read(operand) | vmHigh.read(operand) << vmLow.width;
  }
};

/// What a wait waits for.
struct Wait {
  SmallVector<Bound, 2> bounds;
  bool loadsToLds = false;       ///< all loads straight to LDS
  std::optional<unsigned> group; ///< those of one of the `CopyGroups`
  bool more = false;             ///< something that is not counted here

  /// The wait that `instruction` is, or nothing.
  static std::optional<Wait> read(const MachineInstr &instruction);
};

StringRef nameOf(const MachineInstr &instruction) {
  const MachineFunction &function = *instruction.getMF();
  return function.getSubtarget().getInstrInfo()->getName(instruction.getOpcode());
}

std::optional<Wait> Wait::read(const MachineInstr &instruction) {
  StringRef name = nameOf(instruction);
  if (!name.consume_front("S_WAIT"))
    return std::nullopt;
  name.consume_back("_soft");
  Wait wait;
  if (name == "CNT_lds_direct") {
    wait.loadsToLds = true;
    return wait;
  }
  wait.group = CopyGroups::groupOf(instruction);
  if (wait.group)
    return wait;
  uint64_t operand = 0;
  for (const MachineOperand &candidate : instruction.explicit_operands())
    if (candidate.isImm())
      operand = candidate.getImm() & 0xFFFF;
  auto add = [&](Counter counter, uint64_t count) {
    wait.bounds.push_back(
        {counter, uint8_t(std::min<uint64_t>(count, OutstandingOperations::many))});
  };
  if (name == "CNT") {
    WaitcntLayout layout = WaitcntLayout::of(generationOf(*instruction.getMF()));
    if (unsigned vm = layout.vm(operand); vm != maxUIntN(layout.vmLow.width + layout.vmHigh.width))
      add(Counter::Load, vm);
    if (unsigned lgkm = layout.lgkm.read(operand); lgkm != maxUIntN(layout.lgkm.width))
      add(Counter::Lds, lgkm);
    wait.more = layout.exp.read(operand) != maxUIntN(layout.exp.width);
  } else if (name == "_LOADCNT_DSCNT" || name == "_STORECNT_DSCNT") {
    add(name == "_LOADCNT_DSCNT" ? Counter::Load : Counter::Store, operand >> 8 & 63);
    add(Counter::Lds, operand & 63);
  } else {
    auto counter = StringSwitch<Counter>(name)
                       .Cases({"_LOADCNT", "CNT_VMCNT"}, Counter::Load)
                       .Cases({"_STORECNT", "CNT_VSCNT"}, Counter::Store)
                       .Cases({"_DSCNT", "CNT_LGKMCNT"}, Counter::Lds)
                       .Case("_KMCNT", Counter::Scalar)
                       .Case("_SAMPLECNT", Counter::Sample)
                       .Case("_BVHCNT", Counter::Bvh)
                       .Default(OutstandingOperations::numCounters);
    if (counter != OutstandingOperations::numCounters)
      add(counter, operand);
    else
      wait.more = true;
  }
  return wait;
}

/// What an instruction adds to the counters.
struct Issue {
  Counters counters = 0;
  bool several = false; ///< more than one
  bool loadToLds = false;
  /// Whether what was issued before it completes before it.
  bool inOrder = true;
};

Issue issueOf(const MachineInstr &instruction) {
  constexpr Issue anything{allCounters, /*several=*/true};
  if (instruction.isMetaInstruction() || instruction.isBundle())
    return {};
  if (instruction.isCall())
    return anything;
  const bool touchesMemory = instruction.mayLoadOrStore();
  if (instruction.isInlineAsm())
    return touchesMemory ? anything : Issue();

  StringRef name = nameOf(instruction);
  // These have counters of their own, which no fence waits for, or none.
  if (name.starts_with("S_BARRIER") || name.starts_with("TENSOR_") || name.contains("_ASYNC_") ||
      name.contains("PREFETCH") || (name.starts_with("BUFFER_") && name.ends_with("_INV")))
    return {};
  if (name.starts_with("DS_"))
    return {only(Counter::Lds)};
  if (name.starts_with("S_LOAD") || name.starts_with("S_BUFFER") || name.starts_with("S_SCRATCH") ||
      name.starts_with("S_MEM") || name.starts_with("S_ATOMIC") || name.starts_with("S_DCACHE") ||
      name.starts_with("S_SENDMSG"))
    return {only(Counter::Scalar), /*several=*/true};

  bool loads = instruction.mayLoad(), stores = instruction.mayStore();
  if (name.contains("_ATOMIC_"))
    loads = name.contains("_RTN"), stores = !loads;
  if (name.starts_with("GLOBAL_WB"))
    loads = false, stores = true;
  Counters vector = stores ? only(Counter::Store) : Counters(0);
  if (loads || !stores)
    vector |= only(Counter::Load);
  if (name.starts_with("BUFFER_") || name.starts_with("TBUFFER_") || name.starts_with("GLOBAL_") ||
      name.starts_with("SCRATCH_"))
    return {vector, /*several=*/false, /*loadToLds=*/name.contains("_LDS")};
  if (name.starts_with("FLAT_"))
    // What turns out to be LDS is back early.
    return {Counters(vector | only(Counter::Lds)), /*several=*/false, /*loadToLds=*/false,
            /*inOrder=*/false};
  if (name.starts_with("IMAGE_"))
    return {Counters(vector | vectorLoads)};
  return touchesMemory ? anything : Issue();
}

using Youngest = std::optional<uint8_t>;

/// Calls `update` for all numbers of `state` that count what was issued after loads to LDS.
void forEachYoungest(State &state, function_ref<void(Youngest &)> update) {
  update(state.youngestLoadToLds);
  for (Youngest &youngest : state.youngestOfGroup)
    update(youngest);
}

void apply(State &state, const Wait &wait) {
  auto bound = [&](Counter counter, uint8_t count) {
    state.outstanding[counter] = std::min(state.outstanding[counter], count);
    if (counter == Counter::Load)
      forEachYoungest(state, [&](Youngest &youngest) {
        if (youngest && count <= *youngest)
          youngest.reset();
      });
  };
  for (auto [counter, count] : wait.bounds)
    bound(counter, count);
  if (wait.loadsToLds && state.youngestLoadToLds)
    bound(Counter::Load, *state.youngestLoadToLds);
  if (wait.group && state.youngestOfGroup[*wait.group])
    bound(Counter::Load, *state.youngestOfGroup[*wait.group]);
}

void apply(State &state, const Issue &issue, unsigned generation) {
  constexpr uint8_t many = OutstandingOperations::many;
  Counters counters = merged(issue.counters, generation);
  for (unsigned index = 0; index < OutstandingOperations::numCounters; ++index)
    if (counters >> index & 1)
      state.outstanding[index] =
          issue.several ? many : std::min<uint8_t>(state.outstanding[index] + 1, many);
  if (!(counters & only(Counter::Load)) || issue.several || !issue.inOrder)
    return;
  forEachYoungest(state, [&](Youngest &youngest) {
    if (youngest) // Not more than vmcnt can hold.
      youngest = std::min<uint8_t>(*youngest + 1, many - 2);
  });
}

} // namespace

bool State::hasWorkFor(const MachineInstr &instruction) const {
  std::optional<Wait> wait = Wait::read(instruction);
  return !wait || wait->more || any_of(wait->bounds, [&](const Bound &bound) {
    return outstanding[bound.counter] > bound.count;
  });
}

bool State::join(const State &other) {
  bool changed = false;
  for (unsigned index = 0; index < numCounters; ++index)
    if (other.outstanding[index] > outstanding[index]) {
      outstanding[index] = other.outstanding[index];
      changed = true;
    }
  if (other.youngestLoadToLds &&
      (!youngestLoadToLds || *other.youngestLoadToLds < *youngestLoadToLds)) {
    youngestLoadToLds = other.youngestLoadToLds;
    changed = true;
  }
  for (auto [mine, others] : zip_equal(youngestOfGroup, other.youngestOfGroup))
    if (others && (!mine || *others < *mine)) {
      mine = others;
      changed = true;
    }
  return changed;
}

void OutstandingOperations::step(State &state, const MachineInstr &instruction) const {
  if (std::optional<Wait> wait = Wait::read(instruction)) {
    apply(state, *wait);
    return;
  }
  Issue issue = issueOf(instruction);
  apply(state, issue, generation);
  if (!issue.loadToLds)
    return;
  state.youngestLoadToLds = 0;
  for (auto [group, youngest] : enumerate(state.youngestOfGroup))
    if (groups.mayWrite(instruction, group))
      youngest = 0;
}

OutstandingOperations::OutstandingOperations(MachineFunction &function)
    : function(function), groups(CopyGroups::of(function.getFunction())),
      generation(generationOf(function)) {
  onEntry.resize(function.getNumBlockIDs());
  State first;
  first.youngestOfGroup.resize(groups.scopes.size());
  if (function.getFunction().getCallingConv() != CallingConv::AMDGPU_KERNEL)
    first.outstanding.fill(many); // of the caller
  onEntry[function.front().getNumber()] = first;

  ReversePostOrderTraversal<MachineFunction *> order(&function);
  bool changed = true;
  while (changed) {
    changed = false;
    for (MachineBasicBlock *block : order) {
      State state = *onEntry[block->getNumber()];
      for (const MachineInstr &instruction : block->instrs())
        step(state, instruction);
      for (MachineBasicBlock *successor : block->successors()) {
        std::optional<State> &next = onEntry[successor->getNumber()];
        if (!next) {
          next = state;
          changed = true;
        } else {
          changed |= next->join(state);
        }
      }
    }
  }
}

void OutstandingOperations::visit(function_ref<void(MachineInstr &, const State &)> visitor) {
  for (MachineBasicBlock &block : function) {
    const std::optional<State> &entry = onEntry[block.getNumber()];
    if (!entry)
      continue;
    State state = *entry;
    for (MachineInstr &instruction : block.instrs()) {
      visitor(instruction, state);
      step(state, instruction);
    }
  }
}

bool fly::isLoadToLds(const MachineInstr &instruction) { return issueOf(instruction).loadToLds; }

constexpr StringLiteral groupsName = "fly.copy_groups";

CopyGroups CopyGroups::of(const Function &function) {
  CopyGroups groups;
  if (const MDNode *all = function.getMetadata(groupsName))
    for (const MDOperand &scopes : all->operands())
      groups.scopes.push_back(cast_or_null<MDNode>(scopes.get()));
  return groups;
}

void CopyGroups::attach(Function &function) const {
  SmallVector<Metadata *> all;
  for (const MDNode *group : scopes)
    all.push_back(const_cast<MDNode *>(group));
  function.setMetadata(groupsName, MDNode::get(function.getContext(), all));
}

bool CopyGroups::mayWrite(const MachineInstr &load, unsigned group) const {
  const MDNode *waited = scopes[group];
  bool known = false;
  for (const MachineMemOperand *operand : load.memoperands()) {
    if (!operand->isStore())
      continue;
    const MDNode *written = operand->getAAInfo().Scope;
    if (!waited || !written || any_of(written->operands(), [&](const MDOperand &scope) {
          return is_contained(waited->operands(), scope);
        }))
      return true;
    known = true;
  }
  return !known;
}

std::optional<unsigned> CopyGroups::groupOf(const MachineInstr &wait) {
  if (wait.getNumExplicitOperands() != 1 || !wait.getOperand(0).isImm() ||
      nameOf(wait) != "S_WAITCNT")
    return std::nullopt;
  const auto number = static_cast<uint64_t>(wait.getOperand(0).getImm()) >> 16 & most;
  if (number == 0)
    return std::nullopt;
  return number - 1;
}

int64_t fly::encodeVmcnt(const MachineFunction &function, unsigned count) {
  WaitcntLayout layout = WaitcntLayout::of(generationOf(function));
  return int64_t(count & maxUIntN(layout.vmLow.width)) << layout.vmLow.shift |
         int64_t(count >> layout.vmLow.width) << layout.vmHigh.shift |
         maxUIntN(layout.exp.width) << layout.exp.shift |
         maxUIntN(layout.lgkm.width) << layout.lgkm.shift;
}
