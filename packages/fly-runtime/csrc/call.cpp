// SPDX-License-Identifier: Apache-2.0
//
// flydsl_call_tvm_ffi and flydsl_call_slots: from a caller's arguments to the host function.
#include "artifact_state.h"
#include "emulated_memory.h"
#include "launch.h"
#include "scalar_check.h"
#include "small_buffer.h"
#include "tvm_ffi.h"

namespace flydsl::runtime {

namespace {

const DLTensor &tensor_of(const ArgumentSite &site, const TVMFFIAny &given) {
  if (given.type_index == kTVMFFITensor)
    return *TVMFFITensorGetDLTensorPtr(given.v_obj);
  if (given.type_index != kTVMFFIDLTensorPtr)
    site.refuse(FLYDSL_ERROR_TYPE, site.argument().expectation(), describe_argument(given));
  return *static_cast<const DLTensor *>(given.v_ptr);
}

std::string device_text(const DLDevice &device) {
  switch (device.device_type) {
  case kDLCPU:
    return "the CPU";
  case kDLROCM:
    return "HIP device " + std::to_string(device.device_id);
  case kDLROCMHost:
    return "HIP's pinned host memory";
  case kDLCUDA:
    return "CUDA device " + std::to_string(device.device_id);
  case kDLCUDAHost:
    return "CUDA's pinned host memory";
  case kDLCUDAManaged:
    return "CUDA's managed memory";
  default:
    return "a device of DLPack type " + std::to_string(device.device_type);
  }
}

// Finds the one device that all tensors of a call are on.
class DeviceAgreement {
public:
  explicit DeviceAgreement(const Devices &devices) : devices(devices) {}

  void add(const ArgumentSite &site, const DLDevice &device) {
    const bool onDevice = is_on_device(device);
    // Pinned and managed memory can be read by the hardware too, wherever the other tensors are.
    if (!devices.emulated() && is_shared_with_the_host(device))
      return;
    const bool onHost = device.device_type == kDLCPU || device.device_type == kDLROCMHost;
    if (!onDevice && !(onHost && devices.emulated()))
      refuse_place(site, device);
    if (first == nullptr) {
      first = &device;
      firstIndex = site.index;
      if (onDevice &&
          (device.device_id < 0 || static_cast<size_t>(device.device_id) >= devices.all.size()))
        refuse_place(site, device);
      return;
    }
    if (onDevice != is_on_device(*first) || (onDevice && device.device_id != first->device_id))
      site.refuse(FLYDSL_ERROR_VALUE,
                  "all tensors on one device (argument " + std::to_string(firstIndex + 1) + " ('" +
                      site.note.arguments[firstIndex].name + "') is on " + device_text(*first) +
                      ")",
                  "a tensor on " + device_text(device));
  }

  // The number of the tensors' device; -1 when they are on the host, or there are none.
  int device() const { return first != nullptr && is_on_device(*first) ? first->device_id : -1; }

private:
  bool is_on_device(const DLDevice &device) const {
    return device.device_type == (devices.api->cuda() ? kDLCUDA : kDLROCM);
  }

  bool is_shared_with_the_host(const DLDevice &device) const {
    return devices.api->cuda()
               ? device.device_type == kDLCUDAHost || device.device_type == kDLCUDAManaged
               : device.device_type == kDLROCMHost;
  }

  [[noreturn]] void refuse_place(const ArgumentSite &site, const DLDevice &device) const {
    if (devices.emulated())
      site.refuse(FLYDSL_ERROR_VALUE, "a tensor in host memory (the device is emulated)",
                  "one on " + device_text(device));
    const size_t count = devices.all.size();
    site.refuse(FLYDSL_ERROR_VALUE,
                "a tensor on " + (count == 1 ? "the one" : "one of the " + std::to_string(count)) +
                    (devices.api->cuda() ? " CUDA device" : " HIP device") +
                    (count == 1 ? "" : "s"),
                "one on " + device_text(device));
  }

  const Devices &devices;
  const DLDevice *first = nullptr;
  size_t firstIndex = 0;
};

// Calls the host function; throws why it failed.
void call_host(const FlyArtifact *artifact, const Note &note, void **slots) {
  LastError &error = last_error();
  error.status = FLYDSL_OK;
  const int32_t status = artifact->host(slots);
  if (status == FLYDSL_OK)
    return;
  // flydsl_launch has recorded why; a host function may also refuse by itself, with a status only.
  if (error.status == FLYDSL_OK)
    fail(FLYDSL_ERROR_RUNTIME,
         note.name + ": the host function failed with status " + std::to_string(status));
  throw Failure{error.status, error.text, error.argument};
}

// The stream that a call goes to, from its slots.
StreamHandle stream_of(const Note &note, void **slots) {
  uint32_t slot = 0;
  for (const Argument &argument : note.arguments) {
    if (argument.kind == ArgumentKind::Stream)
      break;
    slot += argument.slots();
  }
  return slot < note.slots ? *static_cast<StreamHandle *>(slots[slot]) : nullptr;
}

bool is_capturing(const DeviceApi &api, StreamHandle stream) {
  int status = 0;
  return api.streamIsCapturing && api.streamIsCapturing.function(stream, &status) == kSuccess &&
         status != 0;
}

void run_host(const FlyArtifact *artifact, ArtifactState &state, int device, void **slots) {
  const Note &note = state.note();
  if (!note.kernelsSpeak) {
    call_host(artifact, note, slots);
    return;
  }
  // What kernels print and assert is read as soon as they have run; one call at a time, so that no
  // record is half written. Under capture nothing runs yet: the next call or flydsl_synchronize
  // reads it.
  const std::lock_guard<std::mutex> lock(printing());
  const bool later = is_capturing(*devices().api, stream_of(note, slots));
  const auto drain = [&] {
    if (const LoadedModule *module = state.loaded_on(device); module != nullptr && !later)
      module->messages->drain();
  };
  try {
    call_host(artifact, note, slots);
  } catch (const Failure &) {
    (void)guarded(drain); // what was printed before the failure; the failure itself is what counts
    throw;
  }
  drain();
}

[[noreturn]] void refuse_count(const Note &note, int32_t given) {
  std::string names;
  for (const Argument &argument : note.arguments)
    names += (names.empty() ? "" : ", ") + argument.name;
  fail(FLYDSL_ERROR_TYPE, note.name + "(): expected " + std::to_string(note.arguments.size()) +
                              " arguments (" + names + "), got " + std::to_string(given));
}

void call_checked(const CallScope &scope, const FlyArtifact *artifact, const TVMFFIAny *given,
                  int32_t count) {
  ArtifactState &state = ArtifactState::of(artifact);
  const Note &note = state.note();
  if (count < 0 || static_cast<size_t>(count) != note.arguments.size())
    refuse_count(note, count);
  const Devices &all = devices();

  SmallBuffer<void *, 48> slots(note.slots);
  SmallBuffer<uint64_t, 32> words(note.arguments.size() + 1);
  SmallBuffer<uint64_t, 64> packed(note.packedBytes / 8);
  auto *packedAt = reinterpret_cast<std::byte *>(packed.begin());
  DeviceAgreement agreement(all);
  EmulatedMemory memory(*all.api, note);

  size_t slot = 0;
  for (size_t index = 0; index < note.arguments.size(); ++index) {
    const ArgumentSite site{note, index};
    const Argument &argument = note.arguments[index];
    slots[slot++] = &words[index];
    switch (argument.kind) {
    case ArgumentKind::Tensor: {
      const DLTensor &tensor = tensor_of(site, given[index]);
      agreement.add(site, tensor.device);
      const CheckedTensor checked = check_tensor(site, tensor, packedAt);
      words[index] = reinterpret_cast<uint64_t>(checked.data);
      if (argument.packedBytes != 0)
        slots[slot++] = packedAt;
      packedAt += (argument.packedBytes + 7u) & ~7u;
      if (all.emulated() && tensor.device.device_type != kDLROCM)
        memory.add(index, checked, tensor);
      break;
    }
    case ArgumentKind::Scalar:
      words[index] = check_scalar(site, given[index]);
      if (all.emulated())
        memory.add_integer(index, words[index]);
      break;
    case ArgumentKind::Pointer: {
      const void *address = check_address(site, given[index]);
      words[index] = reinterpret_cast<uint64_t>(address);
      if (all.emulated())
        memory.add_pointer(index, address);
      break;
    }
    case ArgumentKind::Stream:
      words[index] = reinterpret_cast<uint64_t>(check_address(site, given[index]));
      break;
    }
  }
  const int onDevice = agreement.device();
  if (note.hiddenStream) {
    uint64_t &word = words[note.arguments.size()];
    const int kind = all.api->cuda() ? kDLCUDA : kDLROCM;
    word = onDevice < 0 ? 0 : reinterpret_cast<uint64_t>(framework_stream(kind, onDevice));
    slots[slot++] = &word;
  }
  if (onDevice < 0) {
    const CurrentDevice kept(all);
    const Device &device = all.current();
    const CallScope call(scope, &device, &memory);
    run_host(artifact, state, device.index, slots.begin());
  } else {
    const CurrentDevice kept(all, onDevice);
    const CallScope call(scope, &all.all[static_cast<size_t>(onDevice)], &memory);
    run_host(artifact, state, onDevice, slots.begin());
  }
}

} // namespace
} // namespace flydsl::runtime

using namespace flydsl::runtime;

int32_t flydsl_call_slots(const FlyArtifact *artifact, void **slots) {
  return guarded_call([&](const CallScope &) {
    ArtifactState &state = ArtifactState::of(artifact);
    const Note &note = state.note();
    if (slots == nullptr)
      fail(FLYDSL_ERROR_VALUE, note.name + ": slots is NULL");
    for (uint32_t index = 0; index < note.slots; ++index)
      if (slots[index] == nullptr)
        fail(FLYDSL_ERROR_VALUE, note.name + ": slot " + std::to_string(index) + " of " +
                                     std::to_string(note.slots) + " is NULL");
    if (!note.kernelsSpeak)
      return run_host(artifact, state, 0, slots);
    const Devices &all = devices();
    const CurrentDevice scope(all);
    run_host(artifact, state, all.current().index, slots);
  });
}

int flydsl_call_tvm_ffi(const FlyArtifact *artifact, const void *args, int32_t num_args,
                        void *result) {
  const int32_t status = guarded_call([&](const CallScope &scope) {
    call_checked(scope, artifact, static_cast<const TVMFFIAny *>(args), num_args);
  });
  if (status != FLYDSL_OK) {
    raise_last_error_in_tvm_ffi();
    return -1;
  }
  if (result != nullptr) {
    auto *any = static_cast<TVMFFIAny *>(result);
    any->type_index = kTVMFFINone;
    any->zero_padding = 0;
    any->v_int64 = 0;
  }
  return 0;
}
