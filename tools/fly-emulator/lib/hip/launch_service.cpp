// SPDX-License-Identifier: Apache-2.0
#include "hip/launch_service.h"

namespace flyemu {

void launchKernel(Module &module, const KernelMetadata &kernel, const LaunchGeometry &geometry,
                  const std::vector<uint8_t> &arguments, bool cooperative) {
  LaunchOptions options = Runtime::instance().launchOptions();
  options.allGroupsResident = cooperative;
  runLaunch(*module.object, *module.program, kernel, geometry, arguments.data(), arguments.size(),
            options, nullptr);
}

} // namespace flyemu
