// SPDX-License-Identifier: Apache-2.0
//
// Names of AMD architectures as devices and code objects carry them: "gfx942:sramecc+:xnack-".
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
bool runs_on(std::string_view codeObject, std::string_view device);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_ARCHITECTURE_H
