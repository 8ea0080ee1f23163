// SPDX-License-Identifier: Apache-2.0
//
// The rest of the C interface: errors, devices, memory.
#include "ahead.h"
#include "artifact_state.h"
#include "error.h"
#include "json_value.h"
#include "launch.h"
#include "messages.h"

namespace flydsl::runtime {

namespace {

// A JSON object, or the inside of an array, as it grows.
class JsonText {
public:
  JsonText &member(const char *name, const std::string &json) {
    text += (text.empty() ? "" : ",") + quoted(name) + ":" + json;
    return *this;
  }
  JsonText &member(const char *name, int64_t number) {
    return member(name, std::to_string(number));
  }
  void element(const std::string &json) { text += (text.empty() ? "" : ",") + json; }
  std::string object() const { return "{" + text + "}"; }
  std::string array() const { return "[" + text + "]"; }

private:
  std::string text;
};

std::string attempts_json(const std::vector<Attempt> &attempts) {
  JsonText list;
  for (const Attempt &attempt : attempts)
    list.element(JsonText()
                     .member("step", quoted(attempt.step))
                     .member("place", quoted(attempt.place))
                     .member("outcome", quoted(attempt.outcome))
                     .object());
  return list.array();
}

std::string device_json(const Device &device) {
  return JsonText()
      .member("index", device.index)
      .member("name", quoted(device.name))
      .member("arch", quoted(device.architecture))
      .member("warp_size", device.warpSize)
      .member("compute_units", device.computeUnits)
      .member("memory_bytes", device.memoryBytes)
      .member("lds_bytes", device.ldsBytes)
      .member("max_threads", device.maxThreads)
      .object();
}

// The emulator's version, or the version of CUDA that the driver is for ("13.0").
std::string version_json(const DeviceApi &api) {
  int version = 0;
  if (api.emulated())
    return quoted(api.flyemu_version());
  if (!api.cuDriverGetVersion || api.cuDriverGetVersion.function(&version) != kSuccess)
    return "null";
  return quoted(std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
}

std::string describe_chosen(const Devices &chosen) {
  const DeviceApi &api = *chosen.api;
  JsonText list;
  for (const Device &device : chosen.all)
    list.element(device_json(device));
  return JsonText()
      .member("library", quoted(api.path))
      .member("kind", quoted(api.kind()))
      .member("version", version_json(api))
      .member("attempts", attempts_json(chosen.attempts))
      .member("devices", list.array())
      .object();
}

std::string describe() {
  std::vector<Attempt> attempts;
  if (const Devices *found = find_devices(attempts))
    return describe_chosen(*found);
  return JsonText()
      .member("library", "null")
      .member("kind", "null")
      .member("version", "null")
      .member("attempts", attempts_json(attempts))
      .member("devices", "[]")
      .object();
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

int32_t flydsl_load_ahead(const FlyArtifact *artifact) {
  return guarded([&] { load_ahead(artifact); });
}

int32_t flydsl_load_ptx_ahead(const char *architecture, const char *ptx, uint64_t size) {
  return guarded([&] {
    require(architecture, "architecture");
    require(ptx, "ptx");
    load_ptx_ahead(architecture, std::string_view(ptx, size));
  });
}

void flydsl_finish_loading(void) { finish_loading(); }

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
    const CurrentDevice scope(all);
    const LoadedModule &loaded = state.module_on(all, all.current());
    int found = 0;
    all.api->call(all.api->maxActiveBlocks, &found, loaded.kernels[kernel].function,
                  static_cast<int>(threads),
                  static_cast<size_t>(shared_bytes + loaded.kernels[kernel].dynamicBytes));
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

int32_t flydsl_last_error_launched(void) { return last_error().launched ? 1 : 0; }

int32_t flydsl_last_error_argument(void) { return last_error().argument; }

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
    set_device(all, checked_device(all, device));
  });
}

int32_t flydsl_describe(const char **json) {
  return guarded([&] {
    require(json, "json");
    thread_local std::string text;
    text = describe();
    *json = text.c_str();
  });
}

int32_t flydsl_malloc(void **address, uint64_t bytes) {
  return guarded([&] {
    require(address, "address");
    const Devices &all = devices();
    const CurrentDevice scope(all);
    all.api->call(all.api->allocate, address, static_cast<size_t>(bytes));
  });
}

int32_t flydsl_free(void *address) {
  return guarded([&] {
    const Devices &all = devices();
    const CurrentDevice scope(all);
    all.api->call(all.api->release, address);
  });
}

int32_t flydsl_copy(void *destination, const void *source, uint64_t bytes) {
  return guarded([&] {
    const Devices &all = devices();
    const CurrentDevice scope(all);
    all.api->copy(destination, source, static_cast<size_t>(bytes));
  });
}

int32_t flydsl_synchronize(void *stream) {
  return guarded_call([&](const CallScope &) {
    const Devices &all = devices();
    const CurrentDevice scope(all);
    runningCall.launched = true; // what fails now is what was launched before
    all.api->call(all.api->streamSynchronize, stream);
    drain_all_messages();
  });
}

int32_t flydsl_synchronize_device(void) {
  return guarded_call([&](const CallScope &) {
    const Devices &all = devices();
    const CurrentDevice scope(all);
    runningCall.launched = true;
    all.api->call(all.api->deviceSynchronize);
    drain_all_messages();
  });
}

void flydsl_set_output(void (*function)(const char *text, uint64_t bytes)) { set_output(function); }
