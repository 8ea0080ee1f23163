// SPDX-License-Identifier: Apache-2.0
#include "hip_api.h"

#include "error.h"

#include <dlfcn.h>

namespace flydsl::runtime {

namespace {

template <typename Function> void look_up(void *handle, const char *name, Function &into) {
  into = reinterpret_cast<Function>(dlsym(handle, name));
}

} // namespace

HipApi HipApi::resolve(void *handle, const std::string &fallbackPath) {
  HipApi api;
#define FLYDSL_LOOK_UP(name, ...) look_up(handle, #name, api.name);
  FLYDSL_HIP_FUNCTIONS(FLYDSL_LOOK_UP)
  FLYDSL_EMULATOR_FUNCTIONS(FLYDSL_LOOK_UP)
#undef FLYDSL_LOOK_UP
  look_up(handle, "hipGetErrorName", api.hipGetErrorName);
  look_up(handle, "hipGetErrorString", api.hipGetErrorString);
  look_up(handle, "flyemu_version", api.flyemu_version);
  look_up(handle, "flyemu_last_error", api.flyemu_last_error);
  look_up(handle, "flyemu_forget_failures", api.flyemu_forget_failures);
  Dl_info info{};
  const bool located = api.hipGetDeviceCount != nullptr &&
                       dladdr(reinterpret_cast<void *>(api.hipGetDeviceCount), &info) != 0 &&
                       info.dli_fname != nullptr;
  api.path = located ? info.dli_fname : fallbackPath;
  return api;
}

std::string HipApi::describe(HipError error) const {
  std::string text = "HIP error";
  if (hipGetErrorName != nullptr)
    if (const char *name = hipGetErrorName(error); name != nullptr)
      text = name;
  text += " (" + std::to_string(error) + ")";
  // The emulator's report says more than HIP's one line about an error number.
  if (flyemu_last_error != nullptr)
    if (const char *report = flyemu_last_error(); report != nullptr && *report != '\0')
      return text + ": " + report;
  if (hipGetErrorString != nullptr)
    if (const char *meaning = hipGetErrorString(error); meaning != nullptr)
      text += std::string(": ") + meaning;
  return text;
}

void HipApi::missing(const char *name) const {
  fail(FLYDSL_ERROR_RUNTIME, path + " has no function " + name +
                                 "; HIP 6 or newer is needed (python -m flydsl.runtime doctor "
                                 "shows which library was chosen and why)");
}

void HipApi::failed(const char *name, HipError error) const {
  const std::string text = std::string(name) + " failed: " + describe(error);
  // An emulated device stays failed, as hardware does, for clients that ignore what a launch
  // returns. The caller of this one gets the report now, and may go on.
  if (flyemu_forget_failures != nullptr)
    flyemu_forget_failures();
  fail(error == kHipErrorOutOfMemory ? FLYDSL_ERROR_MEMORY : FLYDSL_ERROR_RUNTIME, text);
}

} // namespace flydsl::runtime
