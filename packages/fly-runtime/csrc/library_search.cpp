// SPDX-License-Identifier: Apache-2.0
#include "library_search.h"

#include "error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <strings.h>

namespace flydsl::runtime {

namespace {

// HIP's library in the order of preference: sonames of HIP 7 and 6, then the development name.
constexpr const char *kHipNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};
constexpr const char *kEmulatorName = "libfly_emulator.so";

struct Candidates {
  std::vector<std::string> paths;
  std::string whyNone;
};

struct Step {
  const char *name;
  Candidates (*candidates)();
  int dlopenFlags;
};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// What the caller knows about the emulator.
struct EmulatorSettings {
  std::mutex mutex;
  std::string library;
  std::string devices;
};

EmulatorSettings &emulator_settings() {
  static auto *settings = new EmulatorSettings; // outlives static destructors that still call
  return *settings;
}

std::string emulated_devices() {
  EmulatorSettings &settings = emulator_settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  return settings.devices;
}

std::vector<std::string> hip_names_in(const std::string &folder) {
  std::vector<std::string> paths;
  for (const char *name : kHipNames)
    paths.push_back(folder + name);
  return paths;
}

Candidates given_by_hand() { return {{environment("FLYDSL_HIP_LIBRARY")}, ""}; }

Candidates loader_default() { return {hip_names_in(""), ""}; }

Candidates rocm_path() {
  const std::string root = environment("ROCM_PATH");
  if (root.empty())
    return {{}, "ROCM_PATH is not set"};
  return {hip_names_in(root + "/lib/"), ""};
}

Candidates rocm_default_prefix() { return {hip_names_in("/opt/rocm/lib/"), ""}; }

Candidates emulator_from_caller() {
  EmulatorSettings &settings = emulator_settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  if (settings.library.empty())
    return {{}, "the Python package flydsl.emulator (wheel fly-emulator) was not found"};
  return {{settings.library}, ""};
}

// Wheels install side by side: flydsl/runtime/lib/ and flydsl/emulator/lib/.
Candidates emulator_beside_runtime() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(&emulator_beside_runtime), &info) == 0 ||
      info.dli_fname == nullptr)
    return {{}, "the loader does not say where this library is"};
  const std::string self = info.dli_fname;
  const size_t slash = self.rfind('/');
  if (slash == std::string::npos)
    return {{}, "the loader gives no folder for " + self};
  return {{self.substr(0, slash) + "/../../emulator/lib/" + kEmulatorName}, ""};
}

Candidates emulator_by_loader() { return {{kEmulatorName}, ""}; }

constexpr int kOpen = RTLD_NOW | RTLD_LOCAL;

constexpr Step kGivenSteps[] = {{"FLYDSL_HIP_LIBRARY", given_by_hand, kOpen}};
constexpr Step kHipSteps[] = {
    // A framework may have brought its own HIP library; a second copy in one process would not
    // know the first one's memory.
    {"already loaded", loader_default, kOpen | RTLD_NOLOAD},
    {"ROCM_PATH", rocm_path, kOpen},
    {"loader's default", loader_default, kOpen},
    {"ROCm's default prefix", rocm_default_prefix, kOpen},
};
constexpr Step kEmulatorSteps[] = {
    {"flydsl.emulator", emulator_from_caller, kOpen},
    {"beside the runtime", emulator_beside_runtime, kOpen},
    {"loader's default", emulator_by_loader, kOpen},
};

enum class Policy { Automatic, Hip, Emulator };

Policy policy() {
  const std::string value = environment("FLYDSL_DEVICE");
  if (value.empty())
    return Policy::Automatic;
  if (strcasecmp(value.c_str(), "hip") == 0)
    return Policy::Hip;
  if (strcasecmp(value.c_str(), "emulator") == 0)
    return Policy::Emulator;
  fail(FLYDSL_ERROR_VALUE, "FLYDSL_DEVICE=" + value +
                               ": expected hip or emulator (unset: hip if a device is there, "
                               "else the emulator)");
}

// Whether an opened library is of the kind that was asked for and has a device; says why not.
bool usable(const HipApi &api, Policy wanted, int &deviceCount, std::string &outcome) {
  if (api.hipInit == nullptr || api.hipGetDeviceCount == nullptr) {
    outcome = "opened, but it is no HIP library: it exports no hipInit and hipGetDeviceCount";
    return false;
  }
  if (wanted == Policy::Hip && api.emulated()) {
    outcome = "opened, but it is the emulator and FLYDSL_DEVICE=hip asks for hardware";
    return false;
  }
  if (wanted == Policy::Emulator && !api.emulated()) {
    outcome = "opened, but it is not the emulator, which FLYDSL_DEVICE=emulator asks for";
    return false;
  }
  const std::string architectures = emulated_devices();
  if (api.flyemu_set_devices != nullptr && !architectures.empty()) {
    if (const HipError error = api.flyemu_set_devices(architectures.c_str());
        error != kHipSuccess) {
      outcome = "opened, but it cannot present " + architectures + ": " + api.describe(error);
      return false;
    }
  }
  if (const HipError error = api.hipInit(0); error != kHipSuccess) {
    outcome = "opened, but hipInit failed: " + api.describe(error);
    return false;
  }
  if (const HipError error = api.hipGetDeviceCount(&deviceCount); error != kHipSuccess) {
    outcome = "opened, but hipGetDeviceCount failed: " + api.describe(error);
    return false;
  }
  if (deviceCount <= 0) {
    outcome = "opened, but it has no device";
    return false;
  }
  outcome = "found, " + std::to_string(deviceCount) + (deviceCount == 1 ? " device" : " devices");
  return true;
}

bool run_step(const Step &step, Policy wanted, SearchResult &result) {
  const Candidates candidates = step.candidates();
  if (candidates.paths.empty()) {
    result.attempts.push_back({step.name, "", candidates.whyNone});
    return false;
  }
  for (const std::string &path : candidates.paths) {
    void *handle = dlopen(path.c_str(), step.dlopenFlags);
    if (handle == nullptr) {
      const char *why = dlerror(); // null for RTLD_NOLOAD
      const bool peek = (step.dlopenFlags & RTLD_NOLOAD) != 0;
      result.attempts.push_back({step.name, path, peek || why == nullptr ? "not loaded" : why});
      continue;
    }
    auto api = std::make_unique<HipApi>(HipApi::resolve(handle, path));
    std::string outcome;
    const bool found = usable(*api, wanted, result.deviceCount, outcome);
    result.attempts.push_back({step.name, path, outcome});
    if (found) {
      result.api = std::move(api);
      return true;
    }
    // The handle stays open: HIP libraries start threads and do not survive being closed.
  }
  return false;
}

template <size_t Count>
bool run_steps(const Step (&steps)[Count], Policy wanted, SearchResult &result) {
  for (const Step &step : steps)
    if (run_step(step, wanted, result))
      return true;
  return false;
}

} // namespace

void set_emulator_library(std::string path) {
  EmulatorSettings &settings = emulator_settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  settings.library = std::move(path);
}

void set_emulated_devices(std::string architectures) {
  EmulatorSettings &settings = emulator_settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  settings.devices = std::move(architectures);
}

SearchResult search_library() {
  const Policy wanted = policy();
  SearchResult result;
  if (!environment("FLYDSL_HIP_LIBRARY").empty()) {
    run_steps(kGivenSteps, wanted, result);
    return result;
  }
  if (wanted != Policy::Emulator && run_steps(kHipSteps, Policy::Hip, result))
    return result;
  if (wanted != Policy::Hip)
    run_steps(kEmulatorSteps, Policy::Emulator, result);
  return result;
}

std::string explain_nothing_found(const std::vector<Attempt> &attempts) {
  std::string text = "no device: none of these places has a HIP library with a device";
  for (const Attempt &attempt : attempts) {
    text += "\n  " + attempt.step + ": ";
    if (!attempt.place.empty() &&
        attempt.outcome.compare(0, attempt.place.size() + 1, attempt.place + ":") != 0)
      text += attempt.place + ": ";
    text += attempt.outcome;
  }
  const std::string chosen = environment("FLYDSL_DEVICE");
  text += "\nInstall the wheel fly-emulator to run without an AMD GPU, or name a library with "
          "FLYDSL_HIP_LIBRARY";
  text += chosen.empty() ? "." : "; FLYDSL_DEVICE=" + chosen + " limits the search.";
  return text;
}

} // namespace flydsl::runtime
