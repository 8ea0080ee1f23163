// SPDX-License-Identifier: Apache-2.0
//
// Finding a device library: a list of steps, each of which names the places it would look in or
// says why it has none. What each place gave is kept, so that an error can show all of it.
#ifndef FLYDSL_CSRC_LIBRARY_SEARCH_H
#define FLYDSL_CSRC_LIBRARY_SEARCH_H

#include "device_api.h"

#include <memory>
#include <string>
#include <vector>

namespace flydsl::runtime {

struct Attempt {
  std::string step;    // "ROCM_PATH"
  std::string place;   // "/opt/rocm/lib/libamdhip64.so.7"; empty when the step has no place to look
  std::string outcome; // "found", or why not
};

struct SearchResult {
  std::unique_ptr<DeviceApi> api; // null when nothing usable was found
  int deviceCount = 0;
  std::vector<Attempt> attempts; // in the order in which they were made
};

// Searches as FLYDSL_DEVICE, FLYDSL_HIP_LIBRARY and FLYDSL_CUDA_LIBRARY say; the first library with
// a device wins. By itself the order is HIP, CUDA, the emulator, and a target that the environment
// names (FLYDSL_GPU_ARCH) leaves out those that cannot have it.
// Throws a value Failure for a setting that isn't valid; finding nothing is not a failure.
SearchResult search_library();

// The error for a search that found nothing: every place, and what to do.
std::string explain_nothing_found(const std::vector<Attempt> &attempts);

// Where the emulator's library is, when the caller knows (Python does); empty to forget it.
void set_emulator_library(std::string path);

// The architectures that the emulator is told to present when it is found; empty: its own choice.
void set_emulated_devices(std::string architectures);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_LIBRARY_SEARCH_H
