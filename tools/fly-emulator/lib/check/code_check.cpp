// SPDX-License-Identifier: Apache-2.0
#include "check/code_check.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "check/outstanding.h"
#include "check/wait_counts.h"
#include "device/architecture.h"
#include "execute/opcode.h"
#include "hazard/hazard_window.h"
#include "support/error.h"
#include "support/format.h"
#include "support/json_lines.h"

namespace flyemu {
namespace {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

bool countsAsVector(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch;
}

/// Reads of LDS, and what only passes through its crossbar. All else writes.
bool onlyReadsLds(const std::string &name) {
  for (const char *prefix : {"ds_read", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_nop"})
    if (startsWith(name, prefix))
      return true;
  return false;
}

bool loadsToLds(const Instruction &inst) {
  return countsAsVector(inst.opcode->cls) &&
         (inst.modifiers.lds || inst.opcode->name.find("_lds_") != std::string::npos);
}

/// What is known at a place of the code, of all paths that lead there.
struct State {
  Outstanding vector;     ///< vmcnt, loadcnt
  Outstanding local;      ///< lgkmcnt, dscnt
  Outstanding scalars;    ///< kmcnt
  bool unordered = false; ///< of lgkmcnt, something may be outstanding that returns in any order
  /// Wait states since instructions that others may be too close behind, the least of any path.
  struct Recent {
    uint32_t states = 0;
    RegisterSpan matrix;
  };
  std::map<const HazardFacts *, Recent> recent;

  /// True if that changed anything.
  bool merge(const State &other) {
    const Outstanding beforeVector = vector;
    const Outstanding beforeLocal = local;
    const Outstanding beforeScalars = scalars;
    bool changed = other.unordered && !unordered;
    vector.merge(other.vector);
    local.merge(other.local);
    scalars.merge(other.scalars);
    unordered |= other.unordered;
    for (const auto &[facts, entry] : other.recent) {
      const auto [it, isNew] = recent.emplace(facts, entry);
      Recent &mine = it->second;
      const uint32_t states = std::min(mine.states, entry.states);
      const RegisterSpan span = {std::min(mine.matrix.begin, entry.matrix.begin),
                                 std::max(mine.matrix.end, entry.matrix.end)};
      changed |= isNew || states != mine.states || span.begin != mine.matrix.begin ||
                 span.end != mine.matrix.end;
      mine = {states, span};
    }
    return changed || !(vector == beforeVector) || !(local == beforeLocal) ||
           !(scalars == beforeScalars);
  }
};

class Checker {
public:
  Checker(Program &program, const KernelMetadata &kernel)
      : generation_(generationOf(program)), counters_(generation_),
        facts_(program, program.object().arch() == "gfx950"),
        code_(program.instructionsAt(program.object().entry(kernel))) {
    for (size_t i = 0; i < code_.size(); ++i)
      place_[code_[i]] = i;
    for (const Instruction *inst : code_)
      if (const auto target = place_.find(inst->target);
          inst->target != nullptr && target != place_.end())
        targets_.insert(target->second);
    const uint64_t entry = program.object().entry(kernel);
    for (size_t i = 0; i < code_.size() && !begin_; ++i)
      if (program.elfAddress(*code_[i]) == entry)
        begin_ = i;
  }

  CodeCheck run() {
    if (!begin_)
      throw EmulatorError(hipErrorInvalidImage, "a kernel whose entry point is no instruction");
    states_.resize(code_.size());
    states_[*begin_].emplace();
    std::set<size_t> work{*begin_};
    while (!work.empty()) {
      const size_t at = *work.begin();
      work.erase(work.begin());
      State state = *states_[at];
      size_t last = at;
      // A straight line at once: states are kept where paths meet.
      for (;; ++last) {
        step(state, *code_[last]);
        if (isEnd(last) || joins(last + 1))
          break;
      }
      for (const size_t next : successors(last))
        if (!states_[next]) {
          states_[next] = state;
          work.insert(next);
        } else if (states_[next]->merge(state)) {
          work.insert(next);
        }
    }
    report();
    return std::move(out_);
  }

private:
  using Key = std::tuple<const Instruction *, const Instruction *, std::string>;

  bool isEnd(size_t at) const {
    const Instruction &inst = *code_[at];
    return at + 1 == code_.size() || inst.opcode == nullptr ||
           startsWith(inst.opcode->name, "s_endpgm") ||
           (inst.opcode->cls == OpClass::Branch && !isCall(inst));
  }
  static bool isCall(const Instruction &inst) {
    return inst.opcode->name == "s_swappc_b64" || inst.opcode->name == "s_call_b64";
  }

  std::vector<size_t> successors(size_t at) const {
    const Instruction &inst = *code_[at];
    std::vector<size_t> out;
    if (inst.opcode == nullptr || startsWith(inst.opcode->name, "s_endpgm") ||
        inst.opcode->name == "s_setpc_b64")
      return out;
    const bool always = inst.opcode->name == "s_branch";
    if (!always && at + 1 < code_.size())
      out.push_back(at + 1);
    if (const auto target = place_.find(inst.target);
        inst.target != nullptr && !isCall(inst) && target != place_.end())
      out.push_back(target->second);
    return out;
  }

  /// Do paths meet at an instruction?
  bool joins(size_t at) const { return targets_.count(at) != 0; }

  void found(const char *kind, const Instruction &inst, const Instruction *other,
             const std::string &what) {
    if (reporting_ && seen_.insert({&inst, other, kind}).second)
      out_.findings.push_back({kind, what, &inst, other});
  }

  static uint32_t generationOf(const Program &program) {
    const Architecture *architecture = findArchitecture(program.object().arch());
    return architecture == nullptr ? 9 : architecture->generation;
  }

  void checkUse(const Outstanding &outstanding, Counter counter, const Instruction &inst,
                const Operand &operand, bool written) {
    if (!operand.isVector() && !operand.isScalarRegister())
      return;
    for (unsigned dword = 0; dword < operand.dwords; ++dword)
      if (const Instruction *load = outstanding.find(Outstanding::keyOf(operand, dword))) {
        found("wait", inst, load,
              format("a register is %s while the load into it may be outstanding: an %s is "
                     "missing or too weak",
                     written ? "overwritten" : "read", counters_.wait(counter)));
        return;
      }
  }

  /// From where on other waves may pass the barrier: the signal, where that is apart.
  bool arrives(const Instruction &inst) const {
    if (counters_.separateScalars())
      return startsWith(inst.opcode->name, "s_barrier_signal");
    return inst.opcode->cls == OpClass::Barrier;
  }

  void checkBarrier(const State &state, const Instruction &inst) {
    for (const auto &[key, operation] : state.local.all()) {
      if (operation.inst->opcode->cls != OpClass::Lds)
        continue;
      const bool reads = onlyReadsLds(operation.inst->opcode->name);
      if (reads && !startsWith(operation.inst->opcode->name, "ds_read"))
        continue; // the crossbar: nothing that other waves see
      found("barrier", inst, operation.inst,
            std::string(reads ? "a read of LDS" : "a write to LDS") +
                " may be outstanding at a barrier, behind which other waves " +
                (reads ? "overwrite it" : "read it") + ": an " + counters_.wait(Counter::Local) +
                " is missing or too weak");
    }
  }

  void wait(State &state, const Instruction &inst) {
    const WaitCounts counts = waitCounts(inst, generation_);
    state.vector.retire(counts.loads);
    if (counts.local == 0) {
      state.local.clear();
      state.unordered = false;
    } else if (!state.unordered) {
      state.local.retire(counts.local);
    }
    if (counts.scalars == 0) // they return in any order
      state.scalars.clear();
  }

  void issue(State &state, const Instruction &inst) {
    const OpClass cls = inst.opcode->cls;
    const auto put = [&](Outstanding &counter, bool whole) {
      for (unsigned i = 0; i < inst.dstCount; ++i)
        for (unsigned dword = 0; dword < inst.dst[i].dwords; ++dword)
          counter.add(Outstanding::keyOf(inst.dst[i], dword), inst);
      if (whole)
        counter.add(Outstanding::keyOf(inst), inst);
    };
    if (countsAsVector(cls) &&
        counters_.home(countsAsStore(inst) ? Counter::Store : Counter::Load) == Counter::Load) {
      state.vector.issue(counters_.most(Counter::Load));
      put(state.vector, false);
    }
    if (cls == OpClass::ScalarMemory && counters_.separateScalars()) {
      put(state.scalars, false);
      return;
    }
    if (cls == OpClass::Lds || cls == OpClass::ScalarMemory || cls == OpClass::Flat) {
      if (!state.unordered)
        state.local.issue(counters_.most(Counter::Local));
      put(state.local, cls == OpClass::Lds);
      state.unordered |= cls != OpClass::Lds;
    }
  }

  void hazards(State &state, const Instruction &inst) {
    if (generation_ >= 10)
      return;
    const HazardFacts &facts = facts_.of(inst);
    for (const auto &[earlier, recent] : state.recent)
      if (reporting_ && (earlier->trails & facts.awaited) != 0)
        checkHazard({earlier, 0, recent.matrix}, facts, recent.states, facts_.gfx950(),
                    [&, states = recent.states, other = earlier->inst](const HazardRule &rule,
                                                                       unsigned needed) {
                      found("hazard", inst, other,
                            format("%s: %u wait state%s between the two, %u are needed (s_nop)",
                                   rule.what, states, states == 1 ? "" : "s", needed));
                    });
    for (auto it = state.recent.begin(); it != state.recent.end();) {
      it->second.states += facts.states;
      it = it->second.states > kLongestHazard || facts.leaves ? state.recent.erase(it)
                                                              : std::next(it);
    }
    if (facts.trails == 0 || facts.leaves)
      return;
    const RegisterSpan result = matrixResult(facts);
    if (facts.matrix)
      for (auto &[earlier, recent] : state.recent)
        replaceResult(recent.matrix, result);
    state.recent[&facts] = {0, result};
  }

  void step(State &state, const Instruction &inst) {
    if (inst.opcode == nullptr)
      return;
    const OpClass cls = inst.opcode->cls;
    hazards(state, inst);
    if (cls == OpClass::Wait) {
      wait(state, inst);
      return;
    }
    if (reporting_) {
      for (unsigned i = 0; i < inst.srcCount; ++i) {
        checkUse(state.vector, Counter::Load, inst, inst.src[i], false);
        checkUse(state.local, Counter::Local, inst, inst.src[i], false);
        checkUse(state.scalars, Counter::Scalar, inst, inst.src[i], false);
      }
      for (unsigned i = 0; i < inst.dstCount; ++i) {
        // Loads of one kind arrive in order, so that a second one into the same register is fine.
        if (!countsAsVector(cls))
          checkUse(state.vector, Counter::Load, inst, inst.dst[i], true);
        if (cls != OpClass::Lds)
          checkUse(state.local, Counter::Local, inst, inst.dst[i], true);
        checkUse(state.scalars, Counter::Scalar, inst, inst.dst[i], true);
      }
      if (arrives(inst))
        checkBarrier(state, inst);
    }
    issue(state, inst);
    if (leavesFunction(inst)) // whoever is called waits for everything first (LLVM's convention)
      state = State();
  }

  void report() {
    reporting_ = true;
    for (size_t at = 0; at < code_.size(); ++at) {
      if (!states_[at])
        continue;
      State state = *states_[at];
      for (size_t i = at;; ++i) {
        count(*code_[i]);
        step(state, *code_[i]);
        if (isEnd(i) || joins(i + 1))
          break;
      }
    }
    std::sort(out_.findings.begin(), out_.findings.end(),
              [](const CodeFinding &a, const CodeFinding &b) {
                return std::tuple(a.inst->address, a.kind, a.other->address) <
                       std::tuple(b.inst->address, b.kind, b.other->address);
              });
  }

  void count(const Instruction &inst) {
    ++out_.instructions;
    if (inst.opcode == nullptr) {
      ++out_.unknown;
      return;
    }
    out_.waits += inst.opcode->cls == OpClass::Wait;
    out_.barriers += inst.opcode->cls == OpClass::Barrier;
    out_.matrix += inst.opcode->cls == OpClass::Matrix;
    out_.loadsToLds += loadsToLds(inst);
    // A branch that leads out of the function is a call, too.
    out_.calls += leavesFunction(inst) ||
                  (inst.opcode->cls == OpClass::Branch && place_.count(inst.target) == 0);
  }

  const uint32_t generation_;
  const CounterSet counters_;
  HazardFactsTable facts_;
  const std::vector<const Instruction *> code_;
  std::map<const Instruction *, size_t> place_;
  std::optional<size_t> begin_;
  std::set<size_t> targets_;
  std::vector<std::optional<State>> states_; ///< where straight lines begin
  std::set<Key> seen_;
  bool reporting_ = false;
  CodeCheck out_;
};

} // namespace

CodeCheck checkKernel(Program &program, const KernelMetadata &kernel) {
  return Checker(program, kernel).run();
}

static std::string findingJson(Program &program, const CodeFinding &finding) {
  const CodeObject &object = program.object();
  const auto locate = [&](const char *prefix, const Instruction &inst) {
    const uint64_t address = program.elfAddress(inst);
    return format(", \"%slocation\": ", prefix) + jsonString(program.location(address)) +
           format(", \"%sinstruction\": ", prefix) + jsonString(program.disassemble(inst)) +
           format(", \"%ssource\": ", prefix) + jsonString(object.sourceLine(address));
  };
  return "{\"kind\": " + jsonString(finding.kind) + ", \"what\": " + jsonString(finding.what) +
         locate("", *finding.inst) + locate("other_", *finding.other) + "}";
}

std::string checkText(Program &program) {
  const CodeObject &object = program.object();
  const auto locate = [&](const Instruction &inst) {
    const uint64_t address = program.elfAddress(inst);
    const std::string line = object.sourceLine(address);
    return (line.empty() ? program.location(address) : line) + ": " + program.disassemble(inst);
  };
  std::string out;
  for (const KernelMetadata &kernel : object.kernels())
    for (const CodeFinding &finding : checkKernel(program, kernel).findings)
      out += (out.empty() ? "" : "\n") + kernel.name + ": " + finding.kind + ": " + finding.what +
             "\n  at " + locate(*finding.inst) + "\n  behind " + locate(*finding.other);
  return out;
}

std::string checkImage(const void *image, size_t size, const std::string &arch) {
  const CodeObject object(image, size, arch);
  Program program(object, object.arch());
  std::string out = "{\"arch\": " + jsonString(object.arch()) + ", \"kernels\": [";
  bool first = true;
  for (const KernelMetadata &kernel : object.kernels()) {
    const CodeCheck check = checkKernel(program, kernel);
    out += std::string(first ? "" : ", ") + "{\"name\": " + jsonString(kernel.name) +
           format(", \"instructions\": %zu, \"unknown\": %zu, \"waits\": %zu, \"barriers\": %zu, "
                  "\"matrix\": %zu, \"loads_to_lds\": %zu, \"calls\": %zu, \"findings\": [",
                  check.instructions, check.unknown, check.waits, check.barriers, check.matrix,
                  check.loadsToLds, check.calls);
    first = false;
    bool firstFinding = true;
    for (const CodeFinding &finding : check.findings) {
      out += (firstFinding ? "" : ", ") + findingJson(program, finding);
      firstFinding = false;
    }
    out += "]}";
  }
  return out + "]}";
}

} // namespace flyemu
