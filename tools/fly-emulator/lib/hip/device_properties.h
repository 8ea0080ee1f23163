// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hip/runtime.h"

namespace flyemu {

/// What a device says of itself.
hipDeviceProp_tR0600 propertiesOf(const Device &device);

} // namespace flyemu
