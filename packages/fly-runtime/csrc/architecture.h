// SPDX-License-Identifier: Apache-2.0
//
// Names of architectures as devices and code objects carry them: AMD's "gfx942:sramecc+:xnack-",
// NVIDIA's "sm_90a".
#ifndef FLYDSL_CSRC_ARCHITECTURE_H
#define FLYDSL_CSRC_ARCHITECTURE_H

#include <string>
#include <string_view>

namespace flydsl::runtime {

// The processor without features: "gfx942" of "gfx942:sramecc+:xnack-".
std::string_view processor(std::string_view architecture);

// Whether a device can run a code object: the same processor, and no feature that the code object
// fixes ("xnack+") has the other setting on the device. A suffix after '-' in the processor's name
// ("gfx1250-strict") selects a way of compiling, not another processor.
//
// NVIDIA's code runs on the chip that it names. PTX (`portable`) without a suffix ("sm_80") is
// compiled for later chips, too; with one ("sm_90a") it is for that chip alone.
bool runs_on(std::string_view codeObject, std::string_view device, bool portable = false);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_ARCHITECTURE_H
