// SPDX-License-Identifier: Apache-2.0
//
// Modules, functions, launches, occupancy.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

#include "hip/functions.h"
#include "hip/graph.h"
#include "hip/launch_service.h"
#include "hip/runtime.h"
#include "profile/occupancy.h"

using namespace flyemu;

FLYEMU_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);

namespace {

Module &moduleOf(hipModule_t handle) {
  auto *module = reinterpret_cast<Module *>(handle);
  require(Runtime::instance().isModule(module), hipErrorInvalidHandle, "no module that is loaded");
  return *module;
}

/// The handles that are alive, so that any other pointer is an error and no crash.
struct LiveFunctions {
  std::mutex mutex;
  std::set<const void *> handles;
};
LiveFunctions &liveFunctions() {
  static auto *live = new LiveFunctions;
  return *live;
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

/// A launch, ready to run: it finds out then whether its module is still there.
std::function<void()> launchWork(const ihipModuleSymbol_t &function, const uint32_t grid[3],
                                 const uint32_t block[3], uint32_t dynamicLds, void **parameters,
                                 void **extra, bool cooperative) {
  LaunchGeometry geometry;
  std::copy(grid, grid + 3, geometry.groups);
  std::copy(block, block + 3, geometry.groupSize);
  geometry.dynamicLds = dynamicLds;
  return [module = function.module, kernel = function.kernel, geometry, cooperative,
          arguments = packArguments(*function.kernel, parameters, extra)] {
    require(Runtime::instance().isModule(module), hipErrorInvalidHandle,
            "launch: the kernel's module has been unloaded");
    launchKernel(*module, *kernel, geometry, arguments, cooperative);
  };
}

hipError_t launch(const void *handle, const uint32_t grid[3], const uint32_t block[3],
                  uint32_t dynamicLds, hipStream_t stream, void **parameters, void **extra,
                  bool cooperative) {
  return guarded([&] {
    enqueue(
        stream, hipGraphNodeTypeKernel,
        launchWork(functionOf(handle), grid, block, dynamicLds, parameters, extra, cooperative));
  });
}

hipError_t launch(const void *handle, dim3 grid, dim3 block, size_t dynamicLds, hipStream_t stream,
                  void **parameters, void **extra, bool cooperative) {
  const uint32_t groups[] = {grid.x, grid.y, grid.z};
  const uint32_t threads[] = {block.x, block.y, block.z};
  return launch(handle, groups, threads, static_cast<uint32_t>(dynamicLds), stream, parameters,
                extra, cooperative);
}

/// Of the launch attributes, the one that changes how a launch runs here.
bool isCooperative(const hipLaunchAttribute *attributes, unsigned count) {
  return std::any_of(attributes, attributes + count, [](const hipLaunchAttribute &attribute) {
    return attribute.id == kLaunchAttributeCooperative && attribute.value.cooperative != 0;
  });
}

/// Around a launch, the events that time it.
template <typename F>
hipError_t timed(hipEvent_t start, hipEvent_t stop, hipStream_t stream, F &&body) {
  if (start != nullptr)
    if (const hipError_t error = hipEventRecord(start, stream); error != hipSuccess)
      return error;
  const hipError_t error = body();
  return error != hipSuccess || stop == nullptr ? error : hipEventRecord(stop, stream);
}

/// Workgroups that a compute unit holds at once: by threads, registers and LDS.
int residentGroups(const ihipModuleSymbol_t &function, int threads, size_t dynamicLds) {
  const Architecture &architecture =
      *Runtime::instance().device(function.module->device).architecture;
  const KernelMetadata &kernel = *function.kernel;
  const Occupancy occupancy = occupancyOf(architecture, *function.module->object, kernel,
                                          static_cast<uint32_t>(threads), dynamicLds);
  return static_cast<int>(occupancy.groups);
}

} // namespace

namespace flyemu {

const ihipModuleSymbol_t &functionOf(const void *function) {
  if (hipFunction_t registered = registeredFunction(function))
    return *registered;
  LiveFunctions &live = liveFunctions();
  const std::lock_guard<std::mutex> lock(live.mutex);
  require(live.handles.count(function) != 0, hipErrorInvalidHandle,
          "no function of a loaded module, nor a registered host stub");
  return *static_cast<const ihipModuleSymbol_t *>(function);
}

hipFunction_t functionNamed(Module &module, const char *name) {
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
  const hipFunction_t handle = symbol.get();
  LiveFunctions &live = liveFunctions();
  const std::lock_guard<std::mutex> lock(live.mutex);
  module.functions.push_back(std::move(symbol));
  live.handles.insert(handle);
  return handle;
}

std::function<void()> kernelWork(const hipKernelNodeParams &p, bool cooperative) {
  const uint32_t grid[] = {p.gridDim.x, p.gridDim.y, p.gridDim.z};
  const uint32_t block[] = {p.blockDim.x, p.blockDim.y, p.blockDim.z};
  return launchWork(functionOf(p.func), grid, block, p.sharedMemBytes, p.kernelParams, p.extra,
                    cooperative);
}

} // namespace flyemu

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
  return guarded([&] {
    Module &unloaded = moduleOf(module);
    {
      LiveFunctions &live = liveFunctions();
      const std::lock_guard<std::mutex> lock(live.mutex);
      for (const auto &function : unloaded.functions)
        live.handles.erase(function.get());
    }
    Runtime::instance().unload(&unloaded);
  });
}

FLYEMU_API hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t handle,
                                           const char *name) {
  return guarded([&] {
    require(function != nullptr && name != nullptr, hipErrorInvalidValue,
            "hipModuleGetFunction: null pointer");
    *function = functionNamed(moduleOf(handle), name);
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
/// The dynamic LDS of a launch is checked against the architecture when it is made, and needs no
/// permission before.
FLYEMU_API hipError_t hipFuncSetAttribute(const void *function, int attribute, int value) {
  return guarded([&] {
    constexpr int kMaxDynamicSharedMemorySize = 8;
    constexpr int kPreferredSharedMemoryCarveout = 9;
    const ihipModuleSymbol_t &symbol = functionOf(function);
    require(attribute == kMaxDynamicSharedMemorySize || attribute == kPreferredSharedMemoryCarveout,
            hipErrorInvalidValue, "hipFuncSetAttribute: no attribute that can be set");
    const uint64_t most = Runtime::instance().device(symbol.module->device).architecture->ldsBytes -
                          symbol.kernel->groupSegmentSize;
    if (attribute == kMaxDynamicSharedMemorySize &&
        (value < 0 || static_cast<uint64_t>(value) > most))
      throw EmulatorError(hipErrorInvalidValue, "hipFuncSetAttribute: " + std::to_string(value) +
                                                    " bytes of dynamic LDS; there are " +
                                                    std::to_string(most) +
                                                    " besides those that the kernel has");
  });
}
FLYEMU_API hipError_t hipFuncSetCacheConfig(const void *function, int) {
  return guarded([&] { functionOf(function); });
}
FLYEMU_API hipError_t hipFuncSetSharedMemConfig(const void *function, int) {
  return guarded([&] { functionOf(function); });
}

FLYEMU_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                                            unsigned gridZ, unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned dynamicLds,
                                            hipStream_t stream, void **parameters, void **extra) {
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicLds, stream,
                parameters, extra, false);
}
FLYEMU_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gridX,
                                                       unsigned gridY, unsigned gridZ,
                                                       unsigned blockX, unsigned blockY,
                                                       unsigned blockZ, unsigned dynamicLds,
                                                       hipStream_t stream, void **parameters) {
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicLds, stream,
                parameters, nullptr, true);
}
/// Global sizes instead of block counts; they must be whole blocks here.
FLYEMU_API hipError_t hipExtModuleLaunchKernel(hipFunction_t function, unsigned globalX,
                                               unsigned globalY, unsigned globalZ, unsigned blockX,
                                               unsigned blockY, unsigned blockZ, size_t dynamicLds,
                                               hipStream_t stream, void **parameters, void **extra,
                                               hipEvent_t start, hipEvent_t stop, unsigned) {
  const uint32_t global[] = {globalX, globalY, globalZ};
  const uint32_t block[] = {blockX, blockY, blockZ};
  uint32_t grid[3];
  for (unsigned i = 0; i < 3; ++i) {
    if (block[i] == 0 || global[i] % block[i] != 0)
      return fail(hipErrorInvalidValue,
                  "hipExtModuleLaunchKernel: the global size is no multiple of the block");
    grid[i] = global[i] / block[i];
  }
  return timed(start, stop, stream, [&] {
    return launch(function, grid, block, static_cast<uint32_t>(dynamicLds), stream, parameters,
                  extra, false);
  });
}

/// Its older name.
FLYEMU_API hipError_t hipHccModuleLaunchKernel(hipFunction_t function, unsigned globalX,
                                               unsigned globalY, unsigned globalZ, unsigned blockX,
                                               unsigned blockY, unsigned blockZ, size_t dynamicLds,
                                               hipStream_t stream, void **parameters, void **extra,
                                               hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, globalX, globalY, globalZ, blockX, blockY, blockZ,
                                  dynamicLds, stream, parameters, extra, start, stop, 0);
}

/// The name of a kernel; null for what is no kernel.
FLYEMU_API const char *hipKernelNameRef(hipFunction_t function) {
  const char *name = nullptr;
  guarded([&] { name = functionOf(function).kernel->name.c_str(); });
  return name;
}
FLYEMU_API const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t) {
  return hipKernelNameRef(static_cast<hipFunction_t>(const_cast<void *>(hostFunction)));
}

// The same for a host stub, as compiled HIP programs call them.
FLYEMU_API hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block,
                                      void **parameters, size_t dynamicLds, hipStream_t stream) {
  return launch(function, grid, block, dynamicLds, stream, parameters, nullptr, false);
}
FLYEMU_API hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                                 void **parameters, unsigned dynamicLds,
                                                 hipStream_t stream) {
  return launch(function, grid, block, dynamicLds, stream, parameters, nullptr, true);
}
FLYEMU_API hipError_t hipExtLaunchKernel(const void *function, dim3 grid, dim3 block,
                                         void **parameters, size_t dynamicLds, hipStream_t stream,
                                         hipEvent_t start, hipEvent_t stop, int) {
  return timed(start, stop, stream, [&] {
    return launch(function, grid, block, dynamicLds, stream, parameters, nullptr, false);
  });
}
FLYEMU_API hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *function,
                                         void **parameters) {
  if (config == nullptr)
    return fail(hipErrorInvalidValue, "hipLaunchKernelExC: null pointer");
  return launch(function, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                config->stream, parameters, nullptr,
                isCooperative(config->attrs, config->numAttrs));
}
FLYEMU_API hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t function,
                                           void **parameters, void **extra) {
  if (config == nullptr)
    return fail(hipErrorInvalidValue, "hipDrvLaunchKernelEx: null pointer");
  const HIP_LAUNCH_CONFIG &c = *config;
  return launch(function, {c.gridDimX, c.gridDimY, c.gridDimZ},
                {c.blockDimX, c.blockDimY, c.blockDimZ}, c.sharedMemBytes, c.hStream, parameters,
                extra, isCooperative(c.attrs, c.numAttrs));
}
FLYEMU_API hipError_t hipGetFuncBySymbol(hipFunction_t *function, const void *symbol) {
  return guarded([&] {
    require(function != nullptr, hipErrorInvalidValue, "hipGetFuncBySymbol: null pointer");
    *function = const_cast<hipFunction_t>(&functionOf(symbol));
  });
}
FLYEMU_API hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *function) {
  return guarded([&] {
    require(attributes != nullptr, hipErrorInvalidValue, "hipFuncGetAttributes: null pointer");
    const ihipModuleSymbol_t &symbol = functionOf(function);
    const KernelMetadata &kernel = *symbol.kernel;
    const Architecture &architecture =
        *Runtime::instance().device(symbol.module->device).architecture;
    *attributes = {};
    attributes->localSizeBytes = kernel.privateSegmentSize;
    attributes->sharedSizeBytes = kernel.groupSegmentSize;
    attributes->maxThreadsPerBlock = static_cast<int>(kernel.maxFlatWorkgroupSize);
    attributes->numRegs = static_cast<int>(kernel.vgprCount);
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(architecture.ldsBytes - kernel.groupSegmentSize);
  });
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
FLYEMU_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                   const void *function,
                                                                   int threads, size_t dynamicLds) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, static_cast<hipFunction_t>(const_cast<void *>(function)), threads, dynamicLds);
}
FLYEMU_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, size_t dynamicLds, unsigned) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamicLds);
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
FLYEMU_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                                       hipFunction_t function,
                                                                       size_t dynamicLds, int limit,
                                                                       unsigned) {
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, dynamicLds, limit);
}
FLYEMU_API hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *function,
                                                        size_t dynamicLds, int limit) {
  return hipModuleOccupancyMaxPotentialBlockSize(
      grid, block, static_cast<hipFunction_t>(const_cast<void *>(function)), dynamicLds, limit);
}

FLYEMU_PER_THREAD(hipLaunchCooperativeKernel)
FLYEMU_PER_THREAD(hipLaunchKernel)
