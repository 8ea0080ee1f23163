// SPDX-License-Identifier: Apache-2.0
#include "library_search.h"

#include "error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <strings.h>
#include <sys/stat.h>

namespace flydsl::runtime {

namespace {

// HIP's library in the order of preference: sonames of HIP 7 and 6, then the development name.
constexpr const char *kHipNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};
constexpr const char *kEmulatorName = "libfly_emulator.so";
constexpr const char *kCudaName = "libcuda.so.1"; // the driver's, which the toolkit does not bring

struct Candidates {
  std::vector<std::string> paths;
  std::string whyNone;
};

struct Step {
  const char *name;
  Candidates (*candidates)();
  int dlopenFlags;
  Vendor vendor = Vendor::Hip;
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

Candidates given_cuda() { return {{environment("FLYDSL_CUDA_LIBRARY")}, ""}; }

Candidates cuda_by_loader() { return {{kCudaName}, ""}; }

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
constexpr Step kGivenCudaSteps[] = {{"FLYDSL_CUDA_LIBRARY", given_cuda, kOpen, Vendor::Cuda}};
constexpr Step kCudaSteps[] = {{"CUDA's driver", cuda_by_loader, kOpen, Vendor::Cuda}};
constexpr Step kEmulatorSteps[] = {
    {"flydsl.emulator", emulator_from_caller, kOpen},
    {"beside the runtime", emulator_beside_runtime, kOpen},
    {"loader's default", emulator_by_loader, kOpen},
};

enum class Policy { Automatic, Hip, Cuda, Emulator };

Policy policy() {
  const std::string value = environment("FLYDSL_DEVICE");
  if (value.empty())
    return Policy::Automatic;
  if (strcasecmp(value.c_str(), "hip") == 0)
    return Policy::Hip;
  if (strcasecmp(value.c_str(), "cuda") == 0)
    return Policy::Cuda;
  if (strcasecmp(value.c_str(), "emulator") == 0)
    return Policy::Emulator;
  fail(FLYDSL_ERROR_VALUE, "FLYDSL_DEVICE=" + value +
                               ": expected hip, cuda or emulator (unset: hip if a device is there, "
                               "else cuda if one is, else the emulator)");
}

// The vendor whose architecture the environment names as the target; Automatic when it names none.
Policy vendor_of_the_target() {
  const std::string arch = environment("FLYDSL_GPU_ARCH");
  const std::string target = arch.empty() ? environment("ARCH") : arch;
  if (target.compare(0, 3, "gfx") == 0)
    return Policy::Hip;
  return target.compare(0, 3, "sm_") == 0 ? Policy::Cuda : Policy::Automatic;
}

// Whether an opened library has the functions of its kind, and is what was asked for; says why not.
bool fits(const DeviceApi &api, Policy wanted, std::string &outcome) {
  if (!api.init || !api.getDeviceCount)
    outcome = std::string("opened, but it is no ") + (api.cuda() ? "CUDA driver" : "HIP library") +
              ": it exports no " + api.init.name + " and " + api.getDeviceCount.name;
  else if (wanted == Policy::Hip && api.emulated())
    outcome = "opened, but it is the emulator and FLYDSL_DEVICE=hip asks for hardware";
  else if (wanted == Policy::Emulator && !api.emulated())
    outcome = "opened, but it is not the emulator, which FLYDSL_DEVICE=emulator asks for";
  return outcome.empty();
}

// Whether an opened library is of the kind that was asked for and has a device; says why not.
bool usable(const DeviceApi &api, Policy wanted, int &deviceCount, std::string &outcome) {
  if (!fits(api, wanted, outcome))
    return false;
  const std::string architectures = emulated_devices();
  if (api.flyemu_set_devices && !architectures.empty()) {
    if (const ApiError error = api.flyemu_set_devices.function(architectures.c_str());
        error != kSuccess) {
      outcome = "opened, but it cannot present " + architectures + ": " + api.describe(error);
      return false;
    }
  }
  if (const ApiError error = api.init.function(0); error != kSuccess) {
    outcome = std::string("opened, but ") + api.init.name + " failed: " + api.describe(error);
    return false;
  }
  if (const ApiError error = api.getDeviceCount.function(&deviceCount); error != kSuccess) {
    outcome =
        std::string("opened, but ") + api.getDeviceCount.name + " failed: " + api.describe(error);
    return false;
  }
  if (deviceCount <= 0) {
    outcome = "opened, but it has no device";
    return false;
  }
  outcome = "found, " + std::to_string(deviceCount) + (deviceCount == 1 ? " device" : " devices");
  return true;
}

// Why a path is not opened: the loader would wait at a FIFO for somebody who writes to it.
const char *refusal(const std::string &path) {
  struct stat facts;
  if (path.find('/') == std::string::npos || stat(path.c_str(), &facts) != 0 ||
      S_ISREG(facts.st_mode))
    return nullptr; // a name the loader looks for; what is wrong with others it says itself
  return S_ISDIR(facts.st_mode) ? "it is a folder" : "it is no regular file";
}

bool run_step(const Step &step, Policy wanted, SearchResult &result) {
  const Candidates candidates = step.candidates();
  if (candidates.paths.empty()) {
    result.attempts.push_back({step.name, "", candidates.whyNone});
    return false;
  }
  for (const std::string &path : candidates.paths) {
    if (const char *why = refusal(path)) {
      result.attempts.push_back({step.name, path, why});
      continue;
    }
    void *handle = dlopen(path.c_str(), step.dlopenFlags);
    if (handle == nullptr) {
      const char *why = dlerror(); // null for RTLD_NOLOAD
      const bool peek = (step.dlopenFlags & RTLD_NOLOAD) != 0;
      result.attempts.push_back({step.name, path, peek || why == nullptr ? "not loaded" : why});
      continue;
    }
    auto api = std::make_unique<DeviceApi>(DeviceApi::resolve(handle, step.vendor, path));
    std::string outcome;
    const bool found = usable(*api, wanted, result.deviceCount, outcome);
    result.attempts.push_back({step.name, path, outcome});
    if (found) {
      result.api = std::move(api);
      return true;
    }
    // The handle stays open: these libraries start threads and do not survive being closed.
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
  Policy wanted = policy();
  const bool hipGiven = !environment("FLYDSL_HIP_LIBRARY").empty();
  const bool cudaGiven = !environment("FLYDSL_CUDA_LIBRARY").empty();
  if (wanted == Policy::Automatic && hipGiven && cudaGiven)
    fail(FLYDSL_ERROR_VALUE, "FLYDSL_HIP_LIBRARY and FLYDSL_CUDA_LIBRARY are both set: "
                             "FLYDSL_DEVICE=hip or FLYDSL_DEVICE=cuda says which one counts");
  SearchResult result;
  if (wanted == Policy::Cuda || (wanted == Policy::Automatic && cudaGiven)) {
    cudaGiven ? run_steps(kGivenCudaSteps, wanted, result) : run_steps(kCudaSteps, wanted, result);
    return result;
  }
  if (hipGiven) {
    run_steps(kGivenSteps, wanted, result);
    return result;
  }
  const Policy vendor = wanted == Policy::Automatic ? vendor_of_the_target() : Policy::Automatic;
  if (wanted != Policy::Emulator && vendor != Policy::Cuda &&
      run_steps(kHipSteps, Policy::Hip, result))
    return result;
  if (wanted == Policy::Automatic && vendor != Policy::Hip &&
      run_steps(kCudaSteps, Policy::Cuda, result))
    return result;
  if (wanted != Policy::Hip && vendor != Policy::Cuda)
    run_steps(kEmulatorSteps, Policy::Emulator, result);
  return result;
}

std::string explain_nothing_found(const std::vector<Attempt> &attempts) {
  std::string text = "no device: none of these places has a library with a device";
  for (const Attempt &attempt : attempts) {
    text += "\n  " + attempt.step + ": ";
    if (!attempt.place.empty() &&
        attempt.outcome.compare(0, attempt.place.size() + 1, attempt.place + ":") != 0)
      text += attempt.place + ": ";
    text += attempt.outcome;
  }
  const std::string chosen = environment("FLYDSL_DEVICE");
  text += "\nInstall the wheel fly-emulator to run without a GPU, or name a library with "
          "FLYDSL_HIP_LIBRARY or FLYDSL_CUDA_LIBRARY";
  text += chosen.empty() ? "." : "; FLYDSL_DEVICE=" + chosen + " limits the search.";
  return text;
}

} // namespace flydsl::runtime
