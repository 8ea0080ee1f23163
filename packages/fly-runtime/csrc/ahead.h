// SPDX-License-Identifier: Apache-2.0
//
// What a CUDA driver does in threads of ours, before a call waits for it.
#ifndef FLYDSL_CSRC_AHEAD_H
#define FLYDSL_CSRC_AHEAD_H

#include "flydsl/runtime.h"

#include <string_view>

namespace flydsl::runtime {

// Begins to load an artifact on the calling thread's current device; nullptr: has the driver load
// its compiler. Nothing happens where the thread has no CUDA context.
void load_ahead(const FlyArtifact *artifact);

// Begins to load PTX for `architecture` on the calling thread's current device, for the artifact
// that will hold it. Nothing happens where the thread has no CUDA context, or the device cannot run
// it.
void load_ptx_ahead(std::string_view architecture, std::string_view ptx);

// Waits until no thread is at it any more.
void finish_loading();

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_AHEAD_H
