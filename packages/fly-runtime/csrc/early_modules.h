// SPDX-License-Identifier: Apache-2.0
//
// Modules that threads of ours load from PTX before there is an artifact of it.
#ifndef FLYDSL_CSRC_EARLY_MODULES_H
#define FLYDSL_CSRC_EARLY_MODULES_H

#include "device_api.h"

#include <future>
#include <string>

namespace flydsl::runtime {

// Says that a device's primary context will have a module of this PTX. Whoever loads it sets the
// promise; one that is given up says that the module is not there.
std::promise<ModuleHandle> announce_module(int device, std::string ptx);

// The module that was announced for a device and this very code, as soon as it is loaded; null when
// there is none, or it failed. Each is given out once, since messages of kernels belong to one
// artifact.
ModuleHandle take_early_module(int device, const void *code, size_t bytes);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_EARLY_MODULES_H
