// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "hip/graph.h"
#include "hip/runtime.h"

namespace flyemu {

/// The kernel that a handle or the address of a host stub names; EmulatorError
/// (hipErrorInvalidDeviceFunction) for anything else.
const ihipModuleSymbol_t &functionOf(const void *function);

/// The kernel of a host stub (`__hipRegisterFunction`) on the current device, loaded when it is
/// first asked for; null where the address belongs to none.
hipFunction_t registeredFunction(const void *hostFunction);

/// A kernel's handle in a module; EmulatorError (hipErrorNotFound) lists those that there are.
hipFunction_t functionNamed(Module &module, const char *name);

/// The launch of a kernel node: arguments are copied now, as HIP does.
std::function<void()> kernelWork(const hipKernelNodeParams &parameters, bool cooperative = false);

/// The device that a stream belongs to: the current one for the default streams. EmulatorError
/// (hipErrorInvalidHandle) for a stream that isn't alive.
int deviceOf(hipStream_t stream);

/// A graph's handle.
hipGraph_t adoptGraph(std::unique_ptr<ihipGraph> graph);

} // namespace flyemu
