// SPDX-License-Identifier: Apache-2.0
#include "artifact_state.h"

#include "architecture.h"
#include "early_modules.h"
#include "error.h"

#include <algorithm>
#include <cstring>

namespace flydsl::runtime {

namespace {

std::mutex creating;

// Reads and publishes the artifact's state word. The word is a plain void * of the artifact's C
// data.
void *load_word(void **word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void store_word(void **word, void *value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

void check_artifact(const FlyArtifact *artifact) {
  if (artifact == nullptr)
    fail(FLYDSL_ERROR_VALUE, "the artifact is NULL");
  if (artifact->abi_version != FLYDSL_ARTIFACT_ABI)
    fail(FLYDSL_ERROR_VALUE, "the artifact was built for artifact ABI " +
                                 std::to_string(artifact->abi_version) + ", this fly-runtime has " +
                                 std::to_string(FLYDSL_ARTIFACT_ABI) +
                                 ": rebuild the artifact or install the fly-runtime it needs");
  if (artifact->state == nullptr || artifact->host == nullptr || artifact->note == nullptr ||
      (artifact->num_code_objects != 0 && artifact->code_objects == nullptr) ||
      (artifact->num_kernels != 0 && artifact->kernel_names == nullptr))
    fail(FLYDSL_ERROR_VALUE, "the artifact is damaged: a pointer in its table is NULL");
}

// PTX is compiled for the device that it is loaded on; machine code (an ELF file) is for its chip.
bool is_portable(const FlyCodeObject &object) {
  return object.size < 4 || std::memcmp(object.data, "\177ELF", 4) != 0;
}

// CUDA's launches get no more than 48 KiB of shared memory per block unless the function was
// allowed to have more.
LoadedKernel with_shared_memory(const DeviceApi &api, const Device &device, const Kernel &kernel,
                                FunctionHandle function) {
  int reserved = 0;
  api.call(api.cuFuncGetAttribute, &reserved, kCudaFunctionSharedBytes, function);
  api.call(api.cuFuncSetAttribute, function, kCudaFunctionMaxDynamicSharedBytes,
           static_cast<int>(device.ldsBytes) - reserved);
  return {function, std::max<int64_t>(kernel.ldsBytes - reserved, 0)};
}

} // namespace

ArtifactState &ArtifactState::of(const FlyArtifact *artifact) {
  if (artifact != nullptr && artifact->abi_version == FLYDSL_ARTIFACT_ABI &&
      artifact->state != nullptr)
    if (void *ready = load_word(artifact->state))
      return *static_cast<ArtifactState *>(ready);
  check_artifact(artifact);
  const std::lock_guard<std::mutex> lock(creating);
  if (void *ready = load_word(artifact->state))
    return *static_cast<ArtifactState *>(ready);
  // Lives as long as the artifact's code may run: until the process ends.
  auto *state = new ArtifactState(artifact);
  store_word(artifact->state, state);
  return *state;
}

ArtifactState::ArtifactState(const FlyArtifact *artifact)
    : artifact(*artifact),
      noteRead(parse_note(std::string_view(artifact->note, artifact->note_size))) {
  if (noteRead.kernels.size() != artifact->num_kernels)
    fail(FLYDSL_ERROR_VALUE,
         noteRead.name + ": the note lists " + std::to_string(noteRead.kernels.size()) +
             " kernels, the artifact has " + std::to_string(artifact->num_kernels));
  for (uint32_t index = 0; index < artifact->num_kernels; ++index)
    if (noteRead.kernels[index].name != artifact->kernel_names[index])
      fail(FLYDSL_ERROR_VALUE, noteRead.name + ": kernel " + std::to_string(index) + " is '" +
                                   artifact->kernel_names[index] + "', the note calls it '" +
                                   noteRead.kernels[index].name + "'");
}

const LoadedModule &ArtifactState::module_on(const Devices &devices, const Device &device) {
  if (device.index >= kMaxDevices)
    fail(FLYDSL_ERROR_RUNTIME, noteRead.name + ": device " + std::to_string(device.index) +
                                   " is beyond the " + std::to_string(kMaxDevices) +
                                   " that the runtime keeps modules for");
  std::atomic<const LoadedModule *> &slot = modules[device.index];
  if (const LoadedModule *ready = slot.load(std::memory_order_acquire))
    return *ready;
  const std::lock_guard<std::mutex> lock(loading);
  if (const LoadedModule *ready = slot.load(std::memory_order_relaxed))
    return *ready;
  const LoadedModule *loaded = load(devices, device).release(); // kept until the process ends
  slot.store(loaded, std::memory_order_release);
  return *loaded;
}

const LoadedModule *ArtifactState::loaded_on(int device) const {
  return device < kMaxDevices ? modules[device].load(std::memory_order_acquire) : nullptr;
}

const FlyCodeObject &ArtifactState::code_object_for(const Device &device) const {
  std::string present;
  for (uint32_t index = 0; index < artifact.num_code_objects; ++index) {
    const FlyCodeObject &object = artifact.code_objects[index];
    if (runs_on(object.arch, device.architecture, is_portable(object)))
      return object;
    present += (index == 0 ? "" : ", ") + std::string(object.arch);
  }
  fail(FLYDSL_ERROR_RUNTIME, noteRead.name + ": the artifact has code for " +
                                 (present.empty() ? "no device" : present) + ", but device " +
                                 std::to_string(device.index) + " is " + device.architecture +
                                 "; compile it for " + std::string(processor(device.architecture)));
}

std::unique_ptr<LoadedModule> ArtifactState::load(const Devices &devices,
                                                  const Device &device) const {
  const DeviceApi &api = *devices.api;
  const FlyCodeObject &object = code_object_for(device);
  auto loaded = std::make_unique<LoadedModule>();
  const std::string where = noteRead.name + ": loading the " + object.arch + " code object on " +
                            device.describe(devices.emulated()) + ": ";
  const RelaxedCapture capture(api);
  try {
    loaded->module = take_early_module(device.index, object.data, object.size);
    if (loaded->module == nullptr)
      loaded->module = api.load_module(object.data, object.size);
    for (const Kernel &kernel : noteRead.kernels) {
      FunctionHandle function = nullptr;
      api.call(api.moduleGetFunction, &function, loaded->module, kernel.name.c_str());
      loaded->kernels.push_back(api.cuda() ? with_shared_memory(api, device, kernel, function)
                                           : LoadedKernel{function, 0});
    }
    if (noteRead.kernelsSpeak)
      loaded->messages = std::make_unique<MessageBuffer>(api, loaded->module, noteRead.messages);
  } catch (Failure &failure) {
    fail(failure.status, where + failure.text);
  }
  return loaded;
}

} // namespace flydsl::runtime
