// SPDX-License-Identifier: Apache-2.0
#include "device_api.h"

#include "error.h"

#include <cstring>
#include <dlfcn.h>

namespace flydsl::runtime {

namespace {

template <typename Function> void look_up(void *handle, const char *name, Function *&into) {
  into = reinterpret_cast<Function *>(dlsym(handle, name));
}

template <typename Signature>
void look_up(void *handle, const char *name, ApiFunction<Signature> &into) {
  into.name = name;
  look_up(handle, name, into.function);
}

// After these the driver fails every later call of the process: the context is lost.
bool ends_the_context(ApiError error) {
  return error == kCudaErrorIllegalAddress || error == kCudaErrorLaunchTimeout ||
         error == kCudaErrorAssert ||
         (error >= kCudaErrorHardwareStack && error <= kCudaErrorLaunchFailed);
}

std::string hip_meaning(const char *(*text)(ApiError), ApiError error) {
  const char *found = text == nullptr ? nullptr : text(error);
  return found == nullptr ? "" : found;
}

std::string cuda_meaning(ApiError (*text)(ApiError, const char **), ApiError error) {
  const char *found = nullptr;
  const bool known = text != nullptr && text(error, &found) == kSuccess && found != nullptr;
  return known ? found : "";
}

bool is_machine_code(const void *image, size_t bytes) {
  return bytes >= 4 && std::memcmp(image,
                                   "\x7f"
                                   "ELF",
                                   4) == 0;
}

} // namespace

DeviceApi DeviceApi::resolve(void *handle, Vendor vendor, const std::string &fallbackPath) {
  DeviceApi api;
  api.vendor = vendor;
#define FLYDSL_LOOK_UP(member, hip, cuda, ...)                                                     \
  look_up(handle, vendor == Vendor::Cuda ? (cuda) : (hip), api.member);
  FLYDSL_DEVICE_FUNCTIONS(FLYDSL_LOOK_UP)
#undef FLYDSL_LOOK_UP
#define FLYDSL_LOOK_UP(member, ...) look_up(handle, #member, api.member);
  if (vendor == Vendor::Cuda) {
    FLYDSL_CUDA_FUNCTIONS(FLYDSL_LOOK_UP)
    look_up(handle, "cuGetErrorName", api.cuGetErrorName);
    look_up(handle, "cuGetErrorString", api.cuGetErrorString);
  } else {
    FLYDSL_HIP_FUNCTIONS(FLYDSL_LOOK_UP)
    FLYDSL_EMULATOR_FUNCTIONS(FLYDSL_LOOK_UP)
    look_up(handle, "hipGetErrorName", api.hipGetErrorName);
    look_up(handle, "hipGetErrorString", api.hipGetErrorString);
    look_up(handle, "flyemu_version", api.flyemu_version);
    look_up(handle, "flyemu_last_error", api.flyemu_last_error);
    look_up(handle, "flyemu_forget_failures", api.flyemu_forget_failures);
  }
#undef FLYDSL_LOOK_UP
  Dl_info info{};
  const bool located = api.getDeviceCount &&
                       dladdr(reinterpret_cast<void *>(api.getDeviceCount.function), &info) != 0 &&
                       info.dli_fname != nullptr;
  api.path = located ? info.dli_fname : fallbackPath;
  return api;
}

std::string DeviceApi::describe(ApiError error) const {
  const std::string name =
      cuda() ? cuda_meaning(cuGetErrorName, error) : hip_meaning(hipGetErrorName, error);
  const std::string text = (name.empty() ? cuda() ? "CUDA error" : "HIP error" : name) + " (" +
                           std::to_string(error) + ")";
  // The emulator's report says more than HIP's one line about an error number.
  if (flyemu_last_error != nullptr)
    if (const char *report = flyemu_last_error(); report != nullptr && *report != '\0')
      return text + ": " + report;
  const std::string meaning =
      cuda() ? cuda_meaning(cuGetErrorString, error) : hip_meaning(hipGetErrorString, error);
  return meaning.empty() ? text : text + ": " + meaning;
}

void DeviceApi::copy(void *destination, const void *source, size_t bytes) const {
  if (cuda())
    call(cuMemcpy, destination, source, bytes);
  else
    call(hipMemcpy, destination, source, bytes, kHipMemcpyDefault);
}

ModuleHandle DeviceApi::load_module(const void *image, size_t bytes) const {
  ModuleHandle module = nullptr;
  if (!cuda()) {
    call(hipModuleLoadData, &module, image);
    return module;
  }
  if (!cuModuleLoadDataEx)
    missing(cuModuleLoadDataEx.name);
  // PTX is a C string, whose end the artifact's size need not count.
  const bool text = !is_machine_code(image, bytes);
  const std::string ptx = text ? std::string(static_cast<const char *>(image), bytes) : "";
  char log[8192] = "";
  int names[] = {kCudaJitErrorLog, kCudaJitErrorLogBytes};
  // The driver takes numbers in the place of pointers.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t{sizeof log})};
  const ApiError error = cuModuleLoadDataEx.function(&module, text ? ptx.c_str() : image, 2, names,
                                                     static_cast<void **>(values));
  if (error != kSuccess) {
    log[sizeof log - 1] = '\0';
    failed(cuModuleLoadDataEx.name, error, log);
  }
  return module;
}

void RelaxedCapture::exchange() {
  if (api.cuThreadExchangeStreamCaptureMode)
    (void)api.cuThreadExchangeStreamCaptureMode.function(&mode);
}

void DeviceApi::missing(const char *name) const {
  fail(FLYDSL_ERROR_RUNTIME,
       path + " has no function " + name +
           (cuda() ? "; the driver of CUDA 12 or newer is needed" : "; HIP 6 or newer is needed") +
           " (python -m flydsl.runtime doctor shows which library was chosen "
           "and why)");
}

void DeviceApi::failed(const char *name, ApiError error, const std::string &details) const {
  std::string text = std::string(name) + " failed: " + describe(error);
  if (!details.empty())
    text += "\n" + details;
  if (cuda() && ends_the_context(error))
    text += " (CUDA keeps this failure: a new process is needed before the device can be used)";
  // An emulated device stays failed, as hardware does, for clients that ignore what a launch
  // returns. The caller of this one gets the report now, and may go on.
  if (flyemu_forget_failures != nullptr)
    flyemu_forget_failures();
  const bool resources = error == kErrorOutOfMemory || error == kErrorLaunchOutOfResources;
  fail(resources ? FLYDSL_ERROR_MEMORY : FLYDSL_ERROR_RUNTIME, text);
}

} // namespace flydsl::runtime
