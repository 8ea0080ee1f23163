// SPDX-License-Identifier: Apache-2.0
#include "hip/inspection.h"

#include <map>

#include "llvm/MC/MCInstrInfo.h"

#include "code_object/code_object.h"
#include "decode/disassembler.h"
#include "execute/opcode.h"
#include "execute/program.h"
#include "hip/runtime.h"
#include "support/format.h"

namespace flyemu {
namespace {

const char *fidelityName(Fidelity fidelity) {
  switch (fidelity) {
  case Fidelity::Exact:
    return "exact";
  case Fidelity::Bounded:
    return "within stated error";
  case Fidelity::Assumed:
    return "assumed";
  }
  return "";
}

std::string argumentJson(const KernelArgument &argument) {
  return "{\"name\": " + jsonString(argument.name) +
         ", \"kind\": " + jsonString(argument.valueKind) +
         format(", \"offset\": %u, \"size\": %u}", argument.offset, argument.size);
}

} // namespace

std::string disassembleImage(const void *image, size_t bytes, const std::string &arch) {
  const CodeObject object(image, bytes, arch);
  Program program(object, object.arch());
  std::string out;
  std::string lastLine;
  for (uint64_t address = object.textBegin(); address < object.textEnd();) {
    const FunctionAt function = object.functionAt(address);
    // What fills the space between two functions is no code.
    if (function.name == ".text" && object.nextFunction(0) != object.textEnd()) {
      address = object.nextFunction(address);
      continue;
    }
    out += function.name + ":\n";
    for (const Instruction *inst : program.instructionsAt(address)) {
      const uint64_t at = program.elfAddress(*inst);
      const std::string line = object.sourceLine(at);
      if (line != lastLine && !line.empty())
        out += "  ; " + line + "\n";
      lastLine = line;
      out += format("  %06llx  ", static_cast<unsigned long long>(at)) +
             program.disassemble(*inst) + (inst->opcode == nullptr ? "  ; not emulated" : "") +
             "\n";
      address = at + inst->size;
    }
    address = std::max(address, function.end);
  }
  return out;
}

std::string describeImage(const void *image, size_t bytes) {
  const CodeObject object(image, bytes, "");
  std::string out = "{\"arch\": " + jsonString(object.arch()) +
                    format(", \"version\": %d, \"kernels\": [", object.abiVersion());
  bool first = true;
  for (const KernelMetadata &kernel : object.kernels()) {
    out += std::string(first ? "" : ", ") + "{\"name\": " + jsonString(kernel.name) +
           format(", \"vgpr\": %u, \"agpr\": %u, \"sgpr\": %u, \"vgpr_spills\": %u, "
                  "\"sgpr_spills\": %u, \"lds_bytes\": %u, \"scratch_bytes\": %u, "
                  "\"kernarg_bytes\": %u, \"max_threads\": %u, \"arguments\": [",
                  kernel.vgprCount, kernel.agprCount, kernel.sgprCount, kernel.vgprSpills,
                  kernel.sgprSpills, kernel.groupSegmentSize, kernel.privateSegmentSize,
                  kernel.kernargSize, kernel.maxFlatWorkgroupSize);
    first = false;
    bool firstArgument = true;
    for (const KernelArgument &argument : kernel.arguments) {
      out += (firstArgument ? "" : ", ") + argumentJson(argument);
      firstArgument = false;
    }
    out += "]}";
  }
  return out + "]}";
}

namespace {

/// Whether an instruction of LLVM's, by the name of its record, is one of RDNA's generation. Those
/// of gfx9 are not told apart by it: their names are the assembler's on all of them.
bool belongsTo(const Architecture &arch, const std::string &record) {
  const auto has = [&](const char *part) { return record.find(part) != std::string::npos; };
  switch (arch.generation) {
  case 11:
    return has("_gfx11");
  case 12:
    return has("_gfx12") && !has("_gfx1250") && !has("_gfx125x");
  case 13:
    return has("_gfx12") || has("_gfx13");
  default:
    return true;
  }
}

} // namespace

std::string describeOpcodes(const std::string &arch) {
  const Architecture *found = findArchitecture(arch);
  require(found != nullptr, hipErrorInvalidValue,
          "flyemu_opcodes_json: not an emulated architecture");
  Disassembler &disassembler = Disassembler::forArch(arch);
  const std::lock_guard<std::mutex> lock(disassembler.mutex());
  std::map<std::string, const Opcode *> mnemonics;
  for (unsigned i = 0; i < disassembler.instructions().getNumOpcodes(); ++i) {
    const std::string name = disassembler.mnemonic(i);
    if (!name.empty() && belongsTo(*found, disassembler.instructions().getName(i).str()))
      mnemonics[name] = OpcodeTable::instance().find(name);
  }
  std::string out = "{";
  for (const auto &[name, opcode] : mnemonics)
    if (opcode == nullptr)
      out += (out.size() > 1 ? ", " : "") + jsonString(name) + ": null";
    else if (opcode->refusal != nullptr)
      out += (out.size() > 1 ? ", " : "") + jsonString(name) +
             ": {\"refusal\": " + jsonString(opcode->refusal) + "}";
    else
      out += (out.size() > 1 ? ", " : "") + jsonString(name) +
             ": {\"class\": " + jsonString(opClassName(opcode->cls)) +
             ", \"fidelity\": " + jsonString(fidelityName(opcode->fidelity)) + "}";
  return out + "}";
}

} // namespace flyemu
