// SPDX-License-Identifier: Apache-2.0
//
// What a CUDA driver does in threads of ours, before a call waits for it.
#ifndef FLYDSL_CSRC_AHEAD_H
#define FLYDSL_CSRC_AHEAD_H

#include "flydsl/runtime.h"

namespace flydsl::runtime {

// Begins to load an artifact on the calling thread's current device; nullptr: has the driver load
// its compiler. Nothing happens where the thread has no CUDA context.
void load_ahead(const FlyArtifact *artifact);

// Waits until no thread is at it any more.
void finish_loading();

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_AHEAD_H
