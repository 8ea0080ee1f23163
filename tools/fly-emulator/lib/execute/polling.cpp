// SPDX-License-Identifier: Apache-2.0
#include "execute/polling.h"

#include <algorithm>
#include <bitset>
#include <string>
#include <vector>

#include "execute/opcode.h"
#include "execute/program.h"

namespace flyemu {
namespace {

constexpr size_t kMostBody = Polling::kMostBody;

using Code = std::vector<const Instruction *>;

bool begins(const std::string &name, const char *prefix) { return name.rfind(prefix, 0) == 0; }
bool has(const std::string &name, const char *part) { return name.find(part) != std::string::npos; }

bool movesBetweenLanes(const std::string &name) {
  return begins(name, "ds_bpermute") || begins(name, "ds_permute") || begins(name, "ds_swizzle");
}

bool isLdsAtomic(const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  return inst.opcode->cls == OpClass::Lds && begins(name, "ds_") && !begins(name, "ds_read") &&
         !begins(name, "ds_write") && !movesBetweenLanes(name) && !begins(name, "ds_gws") &&
         name != "ds_nop";
}

/// What a result goes into, within a loop: registers, by number (vector rows first), and SCC.
class Taint {
public:
  void add(const Operand &operand) {
    each(operand, [&](size_t i) { bits_.set(i); });
  }
  bool has(const Operand &operand) const {
    bool found = false;
    each(operand, [&](size_t i) { found |= bits_.test(i); });
    return found;
  }
  void addScc() { bits_.set(kScc); }
  bool scc() const { return bits_.test(kScc); }
  bool scalars(uint16_t first) const {
    return bits_.test(kVectorRows + first) || bits_.test(kVectorRows + first + 1);
  }
  void addScalars(uint16_t first) {
    bits_.set(kVectorRows + first);
    bits_.set(kVectorRows + first + 1);
  }

private:
  static constexpr size_t kScc = kVectorRows + scalar::kCount;
  template <typename F> static void each(const Operand &operand, F &&f) {
    if (operand.isVector())
      for (unsigned i = 0; i < operand.dwords && operand.index + i < kVectorRows; ++i)
        f(size_t{operand.index} + i);
    else if (operand.isScalarRegister())
      for (unsigned i = 0; i < operand.dwords && operand.index + i < scalar::kCount; ++i)
        f(size_t{kVectorRows} + operand.index + i);
    else if (operand.kind == OperandKind::Special &&
             operand.index == static_cast<uint16_t>(SpecialSource::Scc))
      f(kScc);
  }
  std::bitset<kScc + 1> bits_;
};

/// Follow what `load` returns once around the loop: does the branch back depend on it?
bool decides(const Code &code, size_t first, size_t load, size_t branch) {
  Taint taint;
  for (unsigned d = 0; d < code[load]->dstCount; ++d)
    taint.add(code[load]->dst[d]);
  // Twice, since the code behind the load may stand before it.
  for (unsigned round = 0; round < 2; ++round)
    for (size_t i = first; i < branch; ++i) {
      const Instruction &inst = *code[i];
      const std::string &name = inst.opcode->name;
      bool reads = (has(name, "addc") || begins(name, "s_cselect")) && taint.scc();
      for (unsigned s = 0; s < inst.srcCount; ++s)
        reads |= taint.has(inst.src[s]);
      if (inst.opcode->cls == OpClass::VectorAlu && begins(name, "v_cndmask") && inst.srcCount < 3)
        reads |= taint.scalars(scalar::kVcc);
      if (!reads)
        continue;
      for (unsigned d = 0; d < inst.dstCount; ++d)
        taint.add(inst.dst[d]);
      if (inst.opcode->cls == OpClass::ScalarAlu)
        taint.addScc();
      if (begins(name, "v_cmpx") || has(name, "saveexec"))
        taint.addScalars(scalar::kExec);
      if (begins(name, "v_cmp") && inst.dstCount == 0)
        taint.addScalars(scalar::kVcc);
    }
  const std::string &name = code[branch]->opcode->name;
  if (has(name, "scc"))
    return taint.scc();
  if (has(name, "vcc"))
    return taint.scalars(scalar::kVcc);
  if (has(name, "exec"))
    return taint.scalars(scalar::kExec);
  // Back in any case: then a branch out of the loop decides.
  for (size_t i = first; i < branch; ++i)
    if (code[i]->opcode->cls == OpClass::Branch &&
        (taint.scc() || taint.scalars(scalar::kVcc) || taint.scalars(scalar::kExec)))
      return true;
  return false;
}

bool isWritten(const Code &code, size_t first, size_t last, const Operand &operand) {
  Taint written;
  for (size_t i = first; i <= last; ++i)
    for (unsigned d = 0; d < code[i]->dstCount; ++d)
      written.add(code[i]->dst[d]);
  return written.has(operand);
}

/// A loop that changes neither memory nor the address of the load, and meets no barrier.
bool onlyWaits(const Code &code, size_t first, size_t load, size_t branch) {
  for (size_t i = first; i <= branch; ++i) {
    const Instruction &inst = *code[i];
    switch (inst.opcode->cls) {
    case OpClass::Lds:
      if (i != load && !begins(inst.opcode->name, "ds_read") &&
          !movesBetweenLanes(inst.opcode->name))
        return false;
      break;
    case OpClass::Global:
    case OpClass::Flat:
    case OpClass::Scratch:
      if (inst.dstCount == 0 || (i != load && has(inst.opcode->name, "atomic")))
        return false;
      break;
    case OpClass::Barrier:
    case OpClass::Matrix:
      return false;
    default:
      break;
    }
    // Its address: the first source, and of loads from global memory all others, too. The same
    // address may be made again by a plain move.
    const bool one =
        code[load]->opcode->cls == OpClass::Lds || has(code[load]->opcode->name, "atomic");
    const unsigned parts = one ? std::min(code[load]->srcCount, uint8_t{1}) : code[load]->srcCount;
    for (unsigned d = 0; d < inst.dstCount; ++d) {
      Taint written;
      written.add(inst.dst[d]);
      const bool moves = begins(inst.opcode->name, "v_mov_b32") &&
                         (!inst.src[0].isVector() || !isWritten(code, first, branch, inst.src[0]));
      for (unsigned s = 0; s < parts; ++s)
        if (written.has(code[load]->src[s]) && !moves && i != load)
          return false;
    }
  }
  return true;
}

bool isSame(const Operand &a, const Operand &b) {
  return a.kind == b.kind && a.index == b.index && a.dwords == b.dwords;
}

/// Compilers take the first round out of a loop: the same instruction, at the same address, a
/// little before it. Null if there is none.
const Instruction *firstRound(const Code &code, size_t loop, const Instruction &load) {
  for (size_t i = loop; i-- > 0 && loop - i < kMostBody;) {
    const Instruction &inst = *code[i];
    if (inst.opcode == nullptr || inst.opcode->cls == OpClass::Barrier)
      return nullptr;
    if (inst.opcode == load.opcode && inst.srcCount == load.srcCount &&
        inst.modifiers.offset == load.modifiers.offset && isSame(inst.src[0], load.src[0]))
      return &inst;
    Taint written;
    for (unsigned d = 0; d < inst.dstCount; ++d)
      written.add(inst.dst[d]);
    if (load.srcCount == 0 || written.has(load.src[0]))
      return nullptr;
  }
  return nullptr;
}

/// The latest instruction before `at` that writes a scalar register; null if there is none.
const Instruction *lastWriter(const Code &code, size_t at, uint16_t reg, size_t &where) {
  while (at-- > 0)
    for (unsigned d = 0; d < code[at]->dstCount; ++d) {
      const Operand &dst = code[at]->dst[d];
      if (dst.isScalarRegister() && reg >= dst.index && reg < dst.index + dst.dwords) {
        where = at;
        return code[at];
      }
    }
  return nullptr;
}

/// The address that a call goes to, where its registers are made as compilers make them: s_getpc,
/// s_add_u32, s_addc_u32. 0 where they are not.
uint64_t calleeOf(const Code &code, size_t call) {
  const Operand &pair = code[call]->src[0];
  size_t low = 0;
  size_t high = 0;
  size_t lowBase = 0;
  size_t highBase = 0;
  const auto adds = [](const Instruction *inst, const char *name) {
    return inst != nullptr && inst->opcode->name == name && inst->srcCount == 2 &&
           inst->src[1].kind == OperandKind::Constant;
  };
  if (!pair.isScalarRegister() || !adds(lastWriter(code, call, pair.index, low), "s_add_u32") ||
      !adds(lastWriter(code, call, pair.index + 1, high), "s_addc_u32"))
    return 0;
  const auto baseOf = [&](size_t at, uint16_t half, size_t &where) {
    const Operand &from = code[at]->src[0];
    const Instruction *base =
        from.isScalarRegister() ? lastWriter(code, at, from.index, where) : nullptr;
    return base != nullptr && base->opcode->name == "s_getpc_b64" &&
           from.index == base->dst[0].index + half;
  };
  if (!baseOf(low, 0, lowBase) || !baseOf(high, 1, highBase) || lowBase != highBase)
    return 0;
  const uint64_t offset = (code[low]->src[1].constant & 0xffffffffU) |
                          (code[high]->src[1].constant & 0xffffffffU) << 32;
  return code[lowBase]->address + code[lowBase]->size + offset;
}

/// A function that does a few things and returns, without the return; empty of another one.
Code straightFunction(Program &program, uint64_t hostAddress) {
  Code out;
  const Instruction *first = program.at(hostAddress);
  for (const Instruction *inst = first;
       inst != nullptr && inst->opcode != nullptr && out.size() < kMostBody; ++inst) {
    if (inst->opcode->name == "s_setpc_b64")
      return out;
    if (inst->opcode->cls == OpClass::Branch)
      break;
    out.push_back(inst);
  }
  return {};
}

/// With the short functions that it calls in the place of the calls, so that a loop whose load is
/// in one of them looks as if it had been inlined. Empty where there are none.
Code inlined(Program &program, const Code &code) {
  Code out;
  bool any = false;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i]->opcode == nullptr)
      return {};
    if (code[i]->opcode->name == "s_swappc_b64")
      if (const uint64_t callee = calleeOf(code, i); callee != 0)
        if (const Code body = straightFunction(program, callee); !body.empty()) {
          out.insert(out.end(), body.begin(), body.end());
          any = true;
          continue;
        }
    out.push_back(code[i]);
  }
  return any ? out : Code();
}

} // namespace

void Polling::find(Program &program, uint64_t elfAddress) {
  for (const uint64_t function : program.functionsOf(elfAddress)) {
    const Code code = program.instructionsAt(function);
    findIn(code);
    findIn(inlined(program, code));
  }
}

bool Polling::isCandidate(const Instruction &inst) const {
  if (inst.opcode == nullptr || inst.dstCount == 0)
    return false;
  const OpClass cls = inst.opcode->cls;
  if (memory_ == Memory::Lds)
    return cls == OpClass::Lds && (isLdsAtomic(inst) || begins(inst.opcode->name, "ds_read"));
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::ScalarMemory;
}

void Polling::findIn(const Code &code) {
  for (size_t i = 0; i < code.size(); ++i) {
    const Instruction &inst = *code[i];
    any_ |= memory_ == Memory::Lds && inst.opcode != nullptr && isLdsAtomic(inst);
    if (!isCandidate(inst))
      continue;
    for (size_t b = i; b < code.size() && b < i + kMostBody; ++b) {
      const Instruction *target = code[b]->target;
      if (code[b]->opcode == nullptr)
        break;
      if (code[b]->opcode->cls != OpClass::Branch || target == nullptr)
        continue;
      const auto at = std::find(code.begin(), code.end(), target);
      const auto first = static_cast<size_t>(at - code.begin());
      if (first > i)
        continue;
      if (b - first < kMostBody && onlyWaits(code, first, i, b) && decides(code, first, i, b)) {
        polls_.insert(&inst);
        if (const Instruction *before = firstRound(code, first, inst); before != nullptr)
          polls_.insert(before);
        any_ = true;
      }
      break;
    }
  }
}

} // namespace flyemu
