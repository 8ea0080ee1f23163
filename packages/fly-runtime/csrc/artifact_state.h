// SPDX-License-Identifier: Apache-2.0
//
// What the runtime keeps per artifact: the parsed note, and the module loaded on each device.
#ifndef FLYDSL_CSRC_ARTIFACT_STATE_H
#define FLYDSL_CSRC_ARTIFACT_STATE_H

#include "device.h"
#include "messages.h"
#include "note.h"

#include "flydsl/runtime.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace flydsl::runtime {

// A kernel as one device has it loaded.
struct LoadedKernel {
  FunctionHandle function = nullptr;
  // LDS that each launch asks for by itself, beyond what the caller does: what the note says that
  // the kernel needs and its code does not reserve. CUDA's code reserves at most 48 KiB.
  int64_t dynamicBytes = 0;
};

// An artifact's code object as one device has it loaded.
struct LoadedModule {
  ModuleHandle module = nullptr;
  std::vector<LoadedKernel> kernels;       // by kernel number
  std::unique_ptr<MessageBuffer> messages; // null when no kernel prints
};

class ArtifactState {
public:
  // The state of an artifact, made at the first use. Throws a value Failure for an artifact of
  // another ABI version or with a note that doesn't parse; never returns a half-made state.
  static ArtifactState &of(const FlyArtifact *artifact);

  const Note &note() const { return noteRead; }

  // The artifact's kernels on a device, loaded at the first use there; any thread may ask.
  // Throws a Failure that lists the artifact's architectures when none fits.
  const LoadedModule &module_on(const Devices &devices, const Device &device);

  // The same, but null when it was not loaded there.
  const LoadedModule *loaded_on(int device) const;

private:
  explicit ArtifactState(const FlyArtifact *artifact);
  const FlyCodeObject &code_object_for(const Device &device) const;
  std::unique_ptr<LoadedModule> load(const Devices &devices, const Device &device) const;

  const FlyArtifact &artifact;
  Note noteRead;
  std::mutex loading;
  std::atomic<const LoadedModule *> modules[kMaxDevices] = {};
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_ARTIFACT_STATE_H
