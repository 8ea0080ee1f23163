// SPDX-License-Identifier: Apache-2.0
#ifndef FLYDSL_CSRC_LAUNCH_H
#define FLYDSL_CSRC_LAUNCH_H

#include "device.h"

namespace flydsl::runtime {

// While a checked call is running on this thread, the device that it made current; saves each
// launch in it the question. Null outside of such calls.
extern thread_local const Device *deviceOfCall;

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_LAUNCH_H
