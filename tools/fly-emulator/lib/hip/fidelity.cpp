// SPDX-License-Identifier: Apache-2.0
#include "hip/fidelity.h"

#include <map>
#include <set>

#include "execute/opcode.h"
#include "support/format.h"
#include "support/json_lines.h"

namespace flyemu {
namespace {

/// What a kernel's code contains.
struct Contents {
  std::map<Fidelity, std::set<std::string>> names;
  std::set<OpClass> classes;
  bool atomics = false;
  bool floatAtomics = false;
  bool clock = false;
  bool mode = false;
  bool mixedConstants = false;

  bool has(OpClass cls) const { return classes.count(cls) != 0; }
};

Contents contentsOf(const Module &module, const KernelMetadata &kernel) {
  Contents contents;
  const auto in = [](const std::string &name, const char *part) {
    return name.find(part) != std::string::npos;
  };
  for (const Instruction *inst : module.program->instructionsAt(module.object->entry(kernel))) {
    if (inst->opcode == nullptr)
      continue;
    const std::string &name = inst->opcode->name;
    contents.names[inst->opcode->fidelity].insert(inst->opcode->mnemonic());
    contents.classes.insert(inst->opcode->cls);
    const bool memory = inst->opcode->cls == OpClass::Global || inst->opcode->cls == OpClass::Flat;
    contents.atomics |= memory && in(name, "atomic");
    contents.floatAtomics |=
        in(name, "add_f") || in(name, "pk_add") || in(name, "min_f") || in(name, "max_f");
    contents.clock |= in(name, "memtime") || in(name, "memrealtime");
    if (name.rfind("v_fma_mix", 0) == 0)
      for (unsigned i = 0; i < inst->srcCount; ++i)
        contents.mixedConstants |= inst->src[i].kind == OperandKind::Constant;
    contents.mode |= in(name, "s_setreg") || in(name, "s_round_mode") || in(name, "s_denorm_mode");
  }
  return contents;
}

const char *nameOf(Fidelity fidelity) {
  switch (fidelity) {
  case Fidelity::Exact:
    return "exact";
  case Fidelity::Bounded:
    return "within_stated_error";
  case Fidelity::Assumed:
    return "assumed";
  }
  return "assumed";
}

class Model {
public:
  void add(const char *what, Fidelity fidelity, const std::string &how) {
    entries_ += (entries_.empty() ? "" : ", ") + ("{\"what\": " + jsonString(what)) +
                ", \"fidelity\": " + jsonString(nameOf(fidelity)) +
                ", \"how\": " + jsonString(how) + "}";
  }
  std::string json() const { return "[" + entries_ + "]"; }

private:
  std::string entries_;
};

std::string modesText(const KernelDescriptor &descriptor) {
  static const char *const kRounding[] = {"to nearest", "up", "down", "to zero"};
  static const char *const kDenormals[] = {"flushed", "flushed in results", "flushed in operands",
                                           "kept"};
  const uint32_t mode = descriptor.floatMode();
  return format("f32 rounds %s, denormals %s; f16 and f64 round %s, denormals %s; IEEE mode %s, "
                "DX10 clamp %s",
                kRounding[mode & 3], kDenormals[mode >> 4 & 3], kRounding[mode >> 2 & 3],
                kDenormals[mode >> 6 & 3], descriptor.ieeeMode() ? "on" : "off",
                descriptor.dx10Clamp() ? "on" : "off");
}

Model modelOf(const Contents &contents, const KernelDescriptor &descriptor) {
  Model model;
  model.add("modes", Fidelity::Exact,
            modesText(descriptor) + (contents.mode ? "; changed by the kernel" : ""));
  const bool memory = contents.has(OpClass::Global) || contents.has(OpClass::Flat);
  if (memory)
    model.add("memory", Fidelity::Assumed,
              "caches hold nothing back: each access is seen by all at once, whatever its scope; "
              "what hardware may reorder is a matter of the race check");
  if (contents.has(OpClass::Wait))
    model.add("waits", Fidelity::Assumed,
              "results are there when their instruction has executed; a wait that is missing is a "
              "matter of the wait check");
  if (contents.has(OpClass::Barrier) || contents.has(OpClass::Lds))
    model.add("order", Fidelity::Assumed,
              "waves of a workgroup take turns at barriers and where the seed says so, not after "
              "each instruction");
  if (contents.has(OpClass::Lds))
    model.add("lds", Fidelity::Exact, "out of bounds, loads give zero and stores are dropped");
  if (contents.atomics)
    model.add("atomics", Fidelity::Exact,
              contents.floatAtomics
                  ? "floating-point ones in the order of workgroups, on one thread"
                  : "in any order of workgroups");
  if (contents.has(OpClass::Scratch))
    model.add("scratch", Fidelity::Exact,
              "reached by scratch and flat instructions; its swizzle in memory is not modelled");
  if (contents.mixedConstants)
    model.add("constants of v_fma_mix", Fidelity::Assumed,
              "f32 where op_sel_hi says that the source is, else halves");
  if (contents.clock)
    model.add("time", Fidelity::Assumed, "clocks count executed instructions");
  return model;
}

std::string describe(const Module &module, const KernelMetadata &kernel) {
  Contents contents = contentsOf(module, kernel);
  const auto list = [&](Fidelity fidelity) {
    std::string out = "[";
    for (const std::string &name : contents.names[fidelity])
      out += (out.size() > 1 ? ", " : "") + jsonString(name);
    return out + "]";
  };
  return "{\"kernel\": " + jsonString(kernel.name) + ", \"exact\": " + list(Fidelity::Exact) +
         ", \"within_stated_error\": " + list(Fidelity::Bounded) +
         ", \"assumed\": " + list(Fidelity::Assumed) +
         ", \"model\": " + modelOf(contents, module.object->descriptor(kernel)).json() + "}";
}

} // namespace

std::string fidelityJson(Module &module, const KernelMetadata &kernel) {
  const std::lock_guard<std::mutex> lock(module.fidelityMutex);
  std::string &text = module.fidelity[&kernel];
  if (text.empty())
    text = describe(module, kernel);
  return text;
}

} // namespace flyemu
