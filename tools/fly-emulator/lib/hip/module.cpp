// SPDX-License-Identifier: Apache-2.0
//
// Modules, functions, launches, occupancy.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "hip/launch_service.h"
#include "hip/runtime.h"
#include "profile/occupancy.h"

using namespace flyemu;

namespace {

Module &moduleOf(hipModule_t handle) {
  auto *module = reinterpret_cast<Module *>(handle);
  require(Runtime::instance().isModule(module), hipErrorInvalidHandle, "no module that is loaded");
  return *module;
}

const ihipModuleSymbol_t &functionOf(hipFunction_t function) {
  require(function != nullptr && function->module != nullptr &&
              Runtime::instance().isModule(function->module),
          hipErrorInvalidHandle, "no function of a loaded module");
  return *function;
}

/// The explicit arguments, from pointers to each or from a packed buffer.
std::vector<uint8_t> packArguments(const KernelMetadata &kernel, void **parameters, void **extra) {
  std::vector<uint8_t> bytes(explicitKernargSize(kernel));
  if (extra != nullptr) {
    const void *buffer = nullptr;
    size_t size = 0;
    for (size_t i = 0; extra[i] != reinterpret_cast<void *>(kLaunchParamEnd); i += 2) {
      if (extra[i] == reinterpret_cast<void *>(kLaunchParamBufferPointer))
        buffer = extra[i + 1];
      else if (extra[i] == reinterpret_cast<void *>(kLaunchParamBufferSize))
        size = *static_cast<size_t *>(extra[i + 1]);
      else
        throw EmulatorError(hipErrorInvalidValue, "launch: an unknown entry in 'extra'");
    }
    require(buffer != nullptr, hipErrorInvalidValue, "launch: 'extra' has no argument buffer");
    if (size < bytes.size())
      throw EmulatorError(hipErrorInvalidValue,
                          "launch of " + kernel.name + ": the argument buffer has " +
                              std::to_string(size) + " bytes, the arguments take " +
                              std::to_string(bytes.size()));
    std::memcpy(bytes.data(), buffer, std::min(bytes.size(), size));
    return bytes;
  }
  size_t index = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.isHidden())
      continue;
    require(parameters != nullptr && parameters[index] != nullptr, hipErrorInvalidValue,
            "launch: a kernel argument is missing");
    std::memcpy(bytes.data() + argument.offset, parameters[index], argument.size);
    ++index;
  }
  return bytes;
}

hipError_t launch(hipFunction_t handle, const uint32_t grid[3], const uint32_t block[3],
                  uint32_t dynamicLds, void **parameters, void **extra, bool cooperative) {
  return guarded([&] {
    const ihipModuleSymbol_t &function = functionOf(handle);
    LaunchGeometry geometry;
    std::copy(grid, grid + 3, geometry.groups);
    std::copy(block, block + 3, geometry.groupSize);
    geometry.dynamicLds = dynamicLds;
    launchKernel(*function.module, *function.kernel, geometry,
                 packArguments(*function.kernel, parameters, extra), cooperative);
  });
}

/// Workgroups that a compute unit holds at once: by threads, registers and LDS.
int residentGroups(const ihipModuleSymbol_t &function, int threads, size_t dynamicLds) {
  const Architecture &architecture =
      *Runtime::instance().device(function.module->device).architecture;
  const KernelMetadata &kernel = *function.kernel;
  const uint64_t lds = kernel.groupSegmentSize + dynamicLds;
  const Occupancy occupancy = occupancyOf(architecture, *function.module->object, kernel,
                                          static_cast<uint32_t>(threads), lds);
  return static_cast<int>(occupancy.groups);
}

} // namespace

FLYEMU_API hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  return guarded([&] {
    require(module != nullptr, hipErrorInvalidValue, "hipModuleLoadData: null pointer");
    *module = reinterpret_cast<hipModule_t>(Runtime::instance().load(image, 0));
  });
}
FLYEMU_API hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, void *,
                                          void **) {
  return hipModuleLoadData(module, image);
}
FLYEMU_API hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *image) {
  return hipModuleLoadData(module, image);
}
FLYEMU_API hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  return guarded([&] {
    require(module != nullptr && path != nullptr, hipErrorInvalidValue,
            "hipModuleLoad: null pointer");
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw EmulatorError(hipErrorFileNotFound, std::string("cannot read ") + path);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    require(bytes.size() >= 64, hipErrorInvalidImage, "hipModuleLoad: too short for a code object");
    *module = reinterpret_cast<hipModule_t>(Runtime::instance().load(bytes.data(), bytes.size()));
  });
}
FLYEMU_API hipError_t hipModuleUnload(hipModule_t module) {
  return guarded([&] { Runtime::instance().unload(reinterpret_cast<Module *>(module)); });
}

FLYEMU_API hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t handle,
                                           const char *name) {
  return guarded([&] {
    require(function != nullptr && name != nullptr, hipErrorInvalidValue,
            "hipModuleGetFunction: null pointer");
    Module &module = moduleOf(handle);
    const KernelMetadata *kernel = module.object->findKernel(name);
    if (kernel == nullptr) {
      std::string present;
      for (const KernelMetadata &other : module.object->kernels())
        present += (present.empty() ? "" : ", ") + other.name;
      throw EmulatorError(hipErrorNotFound, std::string("no kernel '") + name +
                                                "' in the module (it has " + present + ")");
    }
    auto symbol = std::make_unique<ihipModuleSymbol_t>();
    symbol->module = &module;
    symbol->kernel = kernel;
    *function = symbol.get();
    module.functions.push_back(std::move(symbol));
  });
}
FLYEMU_API hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t handle,
                                         const char *name) {
  return guarded([&] {
    require(name != nullptr, hipErrorInvalidValue, "hipModuleGetGlobal: null pointer");
    const Module &module = moduleOf(handle);
    const Symbol *symbol = module.object->findSymbol(name);
    if (symbol == nullptr || symbol->isFunction)
      throw EmulatorError(hipErrorNotFound,
                          std::string("no variable '") + name + "' in the module");
    if (pointer != nullptr)
      *pointer = module.object->base() + symbol->address;
    if (bytes != nullptr)
      *bytes = symbol->size;
  });
}
FLYEMU_API hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t handle) {
  return guarded([&] {
    require(count != nullptr, hipErrorInvalidValue, "hipModuleGetFunctionCount: null pointer");
    *count = static_cast<unsigned>(moduleOf(handle).object->kernels().size());
  });
}

FLYEMU_API hipError_t hipFuncGetAttribute(int *value, int attribute, hipFunction_t handle) {
  return guarded([&] {
    require(value != nullptr, hipErrorInvalidValue, "hipFuncGetAttribute: null pointer");
    const KernelMetadata &kernel = *functionOf(handle).kernel;
    switch (attribute) {
    case 0:
      *value = static_cast<int>(kernel.maxFlatWorkgroupSize);
      break;
    case 1:
      *value = static_cast<int>(kernel.groupSegmentSize);
      break;
    case 2:
      *value = 0;
      break;
    case 3:
      *value = static_cast<int>(kernel.privateSegmentSize);
      break;
    case 4:
      *value = static_cast<int>(kernel.vgprCount);
      break;
    case 5:
    case 6:
      *value = 90;
      break;
    case 7:
      *value = 0;
      break;
    case 8:
      *value = static_cast<int>(
          Runtime::instance().device(functionOf(handle).module->device).architecture->ldsBytes -
          kernel.groupSegmentSize);
      break;
    case 9:
      *value = 0;
      break;
    default:
      throw EmulatorError(hipErrorInvalidValue, "hipFuncGetAttribute: attribute " +
                                                    std::to_string(attribute) + " is not known");
    }
  });
}
// The dynamic LDS of a launch is checked against the architecture when it is made.
FLYEMU_API hipError_t hipFuncSetAttribute(const void *, int, int) { return hipSuccess; }
FLYEMU_API hipError_t hipFuncSetCacheConfig(const void *, int) { return hipSuccess; }
FLYEMU_API hipError_t hipFuncSetSharedMemConfig(const void *, int) { return hipSuccess; }

FLYEMU_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                                            unsigned gridZ, unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned dynamicLds, hipStream_t,
                                            void **parameters, void **extra) {
  const uint32_t grid[] = {gridX, gridY, gridZ};
  const uint32_t block[] = {blockX, blockY, blockZ};
  return launch(function, grid, block, dynamicLds, parameters, extra, false);
}
FLYEMU_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gridX,
                                                       unsigned gridY, unsigned gridZ,
                                                       unsigned blockX, unsigned blockY,
                                                       unsigned blockZ, unsigned dynamicLds,
                                                       hipStream_t, void **parameters) {
  const uint32_t grid[] = {gridX, gridY, gridZ};
  const uint32_t block[] = {blockX, blockY, blockZ};
  return launch(function, grid, block, dynamicLds, parameters, nullptr, true);
}
/// Global sizes instead of block counts; they must be whole blocks here.
FLYEMU_API hipError_t hipExtModuleLaunchKernel(hipFunction_t function, unsigned globalX,
                                               unsigned globalY, unsigned globalZ, unsigned blockX,
                                               unsigned blockY, unsigned blockZ, size_t dynamicLds,
                                               hipStream_t, void **parameters, void **extra,
                                               hipEvent_t, hipEvent_t, unsigned) {
  const uint32_t global[] = {globalX, globalY, globalZ};
  const uint32_t block[] = {blockX, blockY, blockZ};
  uint32_t grid[3];
  for (unsigned i = 0; i < 3; ++i) {
    if (block[i] == 0 || global[i] % block[i] != 0)
      return fail(hipErrorInvalidValue,
                  "hipExtModuleLaunchKernel: the global size is no multiple of the block");
    grid[i] = global[i] / block[i];
  }
  return launch(function, grid, block, static_cast<uint32_t>(dynamicLds), parameters, extra, false);
}

FLYEMU_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                         hipFunction_t function,
                                                                         int threads,
                                                                         size_t dynamicLds) {
  return guarded([&] {
    require(blocks != nullptr && threads > 0, hipErrorInvalidValue,
            "occupancy: null pointer or no threads");
    *blocks = residentGroups(functionOf(function), threads, dynamicLds);
  });
}
FLYEMU_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, hipFunction_t function, int threads, size_t dynamicLds, unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamicLds);
}
FLYEMU_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block,
                                                              hipFunction_t function,
                                                              size_t dynamicLds, int limit) {
  return guarded([&] {
    require(grid != nullptr && block != nullptr, hipErrorInvalidValue, "occupancy: null pointer");
    const ihipModuleSymbol_t &symbol = functionOf(function);
    int most = static_cast<int>(std::min(symbol.kernel->maxFlatWorkgroupSize, 1024U));
    if (limit > 0)
      most = std::min(most, limit);
    int bestThreads = 0;
    *block = most;
    for (int threads = most / 64 * 64; threads >= 64; threads -= 64) {
      const int resident = residentGroups(symbol, threads, dynamicLds) * threads;
      if (resident > bestThreads) {
        bestThreads = resident;
        *block = threads;
      }
    }
    const Architecture &architecture =
        *Runtime::instance().device(symbol.module->device).architecture;
    *grid = static_cast<int>(architecture.computeUnits) *
            std::max(1, residentGroups(symbol, *block, dynamicLds));
  });
}
