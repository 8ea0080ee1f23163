// SPDX-License-Identifier: Apache-2.0
//
// The timeline as trace events (the JSON that chrome://tracing and Perfetto read): a process for
// each SIMD, a thread for each wave, a slice for each instruction and for what it waited for.
// Times are cycles of the issue model, written as microseconds.
#include "profile/launch_profile.h"
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

} // namespace

std::string LaunchProfile::traceJson() const {
  bool any = false;
  for (const WaveTimeline &wave : timeline.waves)
    any |= !wave.events.empty();
  if (!any)
    return {};
  std::string out =
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": " + jsonString(kernel) +
      ", \"arch\": " + jsonString(arch) +
      ", \"note\": \"emulated: cycles of the issue model, shown as microseconds\"}, "
      "\"traceEvents\": [\n";
  for (uint32_t simd = 0; simd < kSimds; ++simd)
    out += nameTrack("process_name", simd, 0, format("SIMD %u of a compute unit (emulated)", simd));
  std::vector<std::string> arguments;
  arguments.reserve(instructions.size());
  for (const InstructionProfile &inst : instructions)
    arguments.push_back("\"instruction\": " + jsonString(inst.text) +
                        ", \"source\": " + jsonString(inst.source) +
                        format(", \"address\": \"0x%llx\"", number(inst.address)));
  for (size_t track = 0; track < timeline.waves.size(); ++track) {
    const WaveTimeline &wave = timeline.waves[track];
    const auto &group = timelineGroups[wave.group];
    out += nameTrack("thread_name", wave.simd, track,
                     format("block (%u, %u, %u) wave %u", group[0], group[1], group[2], wave.wave));
    for (const TimedEvent &event : wave.events) {
      const InstructionProfile &inst = instructions[event.instruction];
      if (event.stalled != 0)
        out += slice(std::string("wait: ") + stallName(event.reason), "stall",
                     event.issued - event.stalled, event.stalled, wave, track,
                     arguments[event.instruction]);
      // Matrix instructions go on in their unit while the wave issues others: the slice is the
      // issue, its argument how long the unit is busy.
      const bool matrix = inst.unit == "matrix";
      out += slice(inst.text.substr(0, inst.text.find(' ')), inst.unit.c_str(), event.issued,
                   matrix ? 4 : event.duration, wave, track,
                   arguments[event.instruction] +
                       (matrix ? format(", \"matrix unit busy\": %u", event.duration) : ""));
    }
  }
  if (out[out.size() - 2] == ',')
    out.resize(out.size() - 2);
  return out + "]}\n";
}

} // namespace flyemu
