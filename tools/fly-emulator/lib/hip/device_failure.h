// SPDX-License-Identifier: Apache-2.0
//
// Errors that stick: after a launch that failed, a device's work is not to be trusted any more, and
// every call that waits for it, copies from it or gives it more work fails the same way, until the
// device is reset.
#pragma once

#include <string>

#include "hip/hip_types.h"

namespace flyemu {

/// A launch on a device failed, with this report. The first failure is the one that is kept.
void noteDeviceFailure(int device, hipError_t code, const std::string &report);

/// What a device failed with, or hipSuccess.
hipError_t deviceFailure(int device);

/// EmulatorError with the report of the launch that failed, if one has.
void requireUnfailed(int device);

/// The device is as new; all of them for -1.
void forgetDeviceFailure(int device);

} // namespace flyemu
