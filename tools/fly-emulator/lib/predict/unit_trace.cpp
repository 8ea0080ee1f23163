// SPDX-License-Identifier: Apache-2.0
#include "predict/unit_trace.h"

#include <map>

#include "execute/program.h"
#include "profile/issue_model.h"
#include "profile/occupancy.h"
#include "support/format.h"

namespace flyemu {
namespace {

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

std::string slice(const std::string &name, const char *category, uint64_t begin, uint64_t duration,
                  const WaveTimeline &wave, size_t track, const std::string &arguments) {
  return "{\"ph\": \"X\", \"name\": " + jsonString(name) + ", \"cat\": \"" + category +
         format("\", \"ts\": %llu, \"dur\": %llu, \"pid\": %u, \"tid\": %zu, \"args\": {",
                number(begin), number(duration), wave.simd, track) +
         arguments + "}},\n";
}

std::string nameTrack(const char *what, uint32_t process, size_t track, const std::string &name) {
  return format(
             "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %u, \"tid\": %zu, \"args\": {\"name\": ",
             what, process, track) +
         jsonString(name) + "}},\n";
}

/// Waves in flight on the unit: a counter that steps where waves begin and end.
std::string wavesInFlight(const std::vector<WaveTimeline> &waves) {
  std::map<uint64_t, int> steps;
  for (const WaveTimeline &wave : waves) {
    ++steps[wave.begin];
    --steps[wave.end];
  }
  std::string out = nameTrack("process_name", kSimds, 0, "the compute unit");
  int live = 0;
  for (const auto &[time, step] : steps) {
    live += step;
    out += format("{\"ph\": \"C\", \"name\": \"waves in flight\", \"ts\": %llu, \"pid\": %u, "
                  "\"args\": {\"waves\": %d}},\n",
                  number(time), kSimds, live);
  }
  return out;
}

} // namespace

const char *stallName(StallReason reason) {
  switch (reason) {
  case StallReason::None:
    return "none";
  case StallReason::Memory:
    return "memory";
  case StallReason::Local:
    return "lds_or_scalar_memory";
  case StallReason::Barrier:
    return "barrier";
  case StallReason::Dependency:
    return "matrix_result";
  case StallReason::Vector:
    return "vector_result";
  case StallReason::Fetch:
    return "instruction_fetch";
  case StallReason::Unit:
    return "unit_busy";
  }
  return "";
}

InstructionName nameOf(const CodeObject &object, Program &program, const Instruction &inst) {
  InstructionName out;
  out.address = program.elfAddress(inst);
  out.text = program.disassemble(inst);
  out.source = object.sourceLine(out.address);
  out.unit = unitName(issueCost(program, inst).unit);
  return out;
}

std::string UnitTrace::json() const {
  std::string out =
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": " + jsonString(kernel) +
      ", \"arch\": " + jsonString(arch) + ", \"note\": " + jsonString(note) +
      ", \"truncated\": " + (truncated ? "true" : "false") + "}, \"traceEvents\": [\n";
  for (uint32_t simd = 0; simd < kSimds; ++simd)
    out += nameTrack("process_name", simd, 0, format("SIMD %u of a compute unit (emulated)", simd));
  std::vector<std::string> arguments;
  arguments.reserve(instructions.size());
  for (const InstructionName &inst : instructions)
    arguments.push_back(inst.text.empty()
                            ? ""
                            : "\"instruction\": " + jsonString(inst.text) +
                                  ", \"source\": " + jsonString(inst.source) +
                                  format(", \"address\": \"0x%llx\"", number(inst.address)));
  for (size_t track = 0; track < waves.size(); ++track) {
    const WaveTimeline &wave = waves[track];
    out += nameTrack("thread_name", wave.simd, track,
                     format("workgroup %llu wave %u", number(groups[wave.group]), wave.wave));
    for (const TimedEvent &event : wave.events) {
      const InstructionName &inst = instructions[event.instruction];
      if (event.stalled != 0)
        out += slice(std::string("wait: ") + stallName(event.reason), "stall",
                     event.issued - event.stalled, event.stalled, wave, track,
                     arguments[event.instruction]);
      // Matrix instructions go on in their unit while the wave issues others: the slice is the
      // issue, its argument how long the unit is busy.
      const bool matrix = inst.unit == "matrix";
      out += slice(inst.text.substr(0, inst.text.find(' ')), inst.unit.c_str(), event.issued,
                   matrix ? 1 : event.duration, wave, track,
                   arguments[event.instruction] +
                       (matrix ? format(", \"matrix unit busy\": %u", event.duration) : ""));
    }
  }
  out += wavesInFlight(waves);
  out.resize(out.size() - 2);
  return out + "]}\n";
}

} // namespace flyemu
