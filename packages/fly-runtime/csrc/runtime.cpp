// SPDX-License-Identifier: Apache-2.0
//
// The rest of the C interface: errors, devices, memory.
#include "artifact_state.h"
#include "error.h"
#include "messages.h"

// Header-only; from Debian's package nlohmann-json3-dev (3.11).
#include <nlohmann/json.hpp>

namespace flydsl::runtime {

namespace {

using Json = nlohmann::ordered_json;

Json attempts_json(const std::vector<Attempt> &attempts) {
  Json list = Json::array();
  for (const Attempt &attempt : attempts)
    list.push_back(
        {{"step", attempt.step}, {"place", attempt.place}, {"outcome", attempt.outcome}});
  return list;
}

Json device_json(const Device &device) {
  return {{"index", device.index},
          {"name", device.name},
          {"arch", device.architecture},
          {"warp_size", device.warpSize},
          {"compute_units", device.computeUnits},
          {"memory_bytes", device.memoryBytes},
          {"lds_bytes", device.ldsBytes},
          {"max_threads", device.maxThreads}};
}

Json describe_chosen(const Devices &chosen) {
  const HipApi &api = *chosen.api;
  Json list = Json::array();
  for (const Device &device : chosen.all)
    list.push_back(device_json(device));
  return {{"library", api.path},
          {"kind", api.emulated() ? "emulator" : "hip"},
          {"version", api.emulated() ? Json(api.flyemu_version()) : Json()},
          {"attempts", attempts_json(chosen.attempts)},
          {"devices", list}};
}

Json describe() {
  std::vector<Attempt> attempts;
  if (const Devices *found = find_devices(attempts))
    return describe_chosen(*found);
  return {{"library", nullptr},
          {"kind", nullptr},
          {"version", nullptr},
          {"attempts", attempts_json(attempts)},
          {"devices", Json::array()}};
}

int checked_device(const Devices &all, int device) {
  if (device < 0 || static_cast<size_t>(device) >= all.all.size())
    fail(FLYDSL_ERROR_VALUE, "there is no device " + std::to_string(device) + "; " + all.api->path +
                                 " has " + std::to_string(all.all.size()));
  return device;
}

template <typename Type> void require(Type *pointer, const char *name) {
  if (pointer == nullptr)
    fail(FLYDSL_ERROR_VALUE, std::string(name) + " is NULL");
}

} // namespace
} // namespace flydsl::runtime

using namespace flydsl::runtime;

int32_t flydsl_artifact_check(const FlyArtifact *artifact) {
  return guarded([&] { ArtifactState::of(artifact); });
}

int32_t flydsl_load_module(const FlyArtifact *artifact, int32_t device, void **module) {
  return guarded([&] {
    ArtifactState &state = ArtifactState::of(artifact);
    const Devices &all = devices();
    const int wanted = device < 0 ? all.current().index : device;
    const CurrentDevice scope(all, checked_device(all, wanted));
    const LoadedModule &loaded = state.module_on(all, all.all[static_cast<size_t>(wanted)]);
    if (module != nullptr)
      *module = loaded.module;
  });
}

int32_t flydsl_max_active_blocks(const FlyArtifact *artifact, uint32_t kernel, int64_t threads,
                                 int64_t shared_bytes, int32_t *blocks) {
  return guarded([&] {
    require(blocks, "blocks");
    ArtifactState &state = ArtifactState::of(artifact);
    const Note &note = state.note();
    if (kernel >= note.kernels.size())
      fail(FLYDSL_ERROR_VALUE,
           note.name + ": the artifact has no kernel number " + std::to_string(kernel));
    if (threads < 1 || threads > INT32_MAX || shared_bytes < 0)
      fail(FLYDSL_ERROR_VALUE, note.name + ": " + std::to_string(threads) + " threads with " +
                                   std::to_string(shared_bytes) + " bytes of LDS are no workgroup");
    const Devices &all = devices();
    const LoadedModule &loaded = state.module_on(all, all.current());
    int found = 0;
    FLYDSL_HIP_CALL(*all.api, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, &found,
                    loaded.kernels[kernel], static_cast<int>(threads),
                    static_cast<size_t>(shared_bytes));
    *blocks = found;
  });
}

int32_t flydsl_print(const FlyArtifact *artifact, uint32_t message, const uint32_t *words) {
  return guarded([&] {
    const Note &note = ArtifactState::of(artifact).note();
    if (message == 0 || message > note.messages.size())
      fail(FLYDSL_ERROR_VALUE,
           note.name + ": the artifact has no message number " + std::to_string(message));
    const Message &said = note.messages[message - 1];
    const std::string text = format_message(said, words);
    if (said.kind == MessageKind::HostAssertion)
      fail(FLYDSL_ERROR_VALUE, note.name + "(): " + text);
    write_out(text);
  });
}

const char *flydsl_last_error(void) { return last_error().text.c_str(); }

const char *flydsl_version(void) { return FLYDSL_RUNTIME_VERSION; }

int32_t flydsl_set_emulator_library(const char *path) {
  return guarded([&] { set_emulator_library(path == nullptr ? "" : path); });
}

int32_t flydsl_set_emulated_devices(const char *architectures) {
  return guarded([&] { set_emulated_devices(architectures == nullptr ? "" : architectures); });
}

int32_t flydsl_device_count(int32_t *count) {
  return guarded([&] {
    require(count, "count");
    *count = static_cast<int32_t>(devices().all.size());
  });
}

int32_t flydsl_get_device(int32_t *device) {
  return guarded([&] {
    require(device, "device");
    *device = devices().current().index;
  });
}

int32_t flydsl_set_device(int32_t device) {
  return guarded([&] {
    const Devices &all = devices();
    FLYDSL_HIP_CALL(*all.api, hipSetDevice, checked_device(all, device));
  });
}

int32_t flydsl_describe(const char **json) {
  return guarded([&] {
    require(json, "json");
    thread_local std::string text;
    // Paths and driver texts may hold anything; what is not UTF-8 is replaced, not refused.
    text = describe().dump(-1, ' ', false, Json::error_handler_t::replace);
    *json = text.c_str();
  });
}

int32_t flydsl_malloc(void **address, uint64_t bytes) {
  return guarded([&] {
    require(address, "address");
    FLYDSL_HIP_CALL(*devices().api, hipMalloc, address, static_cast<size_t>(bytes));
  });
}

int32_t flydsl_free(void *address) {
  return guarded([&] { FLYDSL_HIP_CALL(*devices().api, hipFree, address); });
}

int32_t flydsl_copy(void *destination, const void *source, uint64_t bytes) {
  return guarded([&] {
    FLYDSL_HIP_CALL(*devices().api, hipMemcpy, destination, source, static_cast<size_t>(bytes),
                    kHipMemcpyDefault);
  });
}

int32_t flydsl_synchronize(void *stream) {
  return guarded([&] {
    FLYDSL_HIP_CALL(*devices().api, hipStreamSynchronize, stream);
    drain_all_messages();
  });
}

int32_t flydsl_synchronize_device(void) {
  return guarded([&] {
    const HipApi &api = *devices().api;
    api.call("hipDeviceSynchronize", api.hipDeviceSynchronize);
    drain_all_messages();
  });
}

void flydsl_set_output(void (*function)(const char *text, uint64_t bytes)) { set_output(function); }
