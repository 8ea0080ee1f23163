// SPDX-License-Identifier: Apache-2.0
//
// What compiled HIP programs call before main: fat binaries, the kernels and variables in them by
// the address of a host stub, and the <<<>>> launch configuration. A fat binary is loaded for a
// device when something of it is first asked for there.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "hip/allocation.h"
#include "hip/copies.h"
#include "hip/functions.h"
#include "hip/graph.h"
#include "hip/runtime.h"

using namespace flyemu;

namespace {

struct FatBinary {
  const void *image = nullptr;
  std::map<int, Module *> modules; ///< by device
};

struct Registered {
  FatBinary *binary = nullptr;
  std::string name;
  std::map<int, hipFunction_t> handles; ///< of a kernel, by device
};

/// A __managed__ variable: one memory for the host and all devices, which code objects reach
/// through a pointer of the variable's name.
struct Managed {
  FatBinary *binary = nullptr;
  std::string name;
  uint8_t *memory = nullptr;
  size_t bytes = 0;
};

struct Registry {
  std::recursive_mutex mutex;
  std::map<FatBinary *, std::unique_ptr<FatBinary>> binaries;
  std::map<const void *, Registered> functions;
  std::map<const void *, Registered> variables;
  std::map<const void *, Managed> managed;
};
Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

Module &moduleOn(FatBinary &binary, int device) {
  Module *&module = binary.modules[device];
  if (module != nullptr)
    return *module;
  module = Runtime::instance().load(binary.image, 0);
  for (const auto &[host, managed] : registry().managed)
    if (managed.binary == &binary)
      if (const Symbol *pointer = module->object->findSymbol(managed.name);
          pointer != nullptr && !pointer->isFunction && pointer->size == sizeof managed.memory)
        std::memcpy(module->object->base() + pointer->address,
                    static_cast<const void *>(&managed.memory), sizeof managed.memory);
  return *module;
}

struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  size_t dynamicLds;
  hipStream_t stream;
  std::vector<uint8_t> arguments; ///< of hipSetupArgument
};
std::vector<LaunchConfiguration> &configurations() {
  thread_local std::vector<LaunchConfiguration> stack;
  return stack;
}

/// A variable's memory on the current device, and its size.
uint8_t *variable(const void *symbol, size_t &bytes) {
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  // In C++, the address of a managed variable is already that of its memory.
  for (const auto &[pointer, managed] : r.managed)
    if (symbol == pointer || symbol == managed.memory) {
      bytes = managed.bytes;
      return managed.memory;
    }
  const auto found = r.variables.find(symbol);
  require(found != r.variables.end(), hipErrorInvalidSymbol,
          "no device variable is registered at that address");
  Module &module = moduleOn(*found->second.binary, Runtime::instance().current());
  const Symbol *in = module.object->findSymbol(found->second.name);
  if (in == nullptr || in->isFunction)
    throw EmulatorError(hipErrorInvalidSymbol,
                        "the fat binary has no variable '" + found->second.name + "'");
  bytes = in->size;
  return module.object->base() + in->address;
}

hipError_t copySymbol(const void *symbol, size_t bytes, size_t offset, hipStream_t stream,
                      const std::function<void(uint8_t *)> &copy) {
  return guarded([&] {
    size_t size = 0;
    uint8_t *memory = variable(symbol, size);
    require(offset <= size && bytes <= size - offset, hipErrorInvalidValue,
            "a copy beyond the end of a device variable");
    enqueue(stream, hipGraphNodeTypeMemcpy, [=] { copy(memory + offset); });
  });
}

} // namespace

namespace flyemu {

hipFunction_t registeredFunction(const void *hostFunction) {
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  const auto found = r.functions.find(hostFunction);
  if (found == r.functions.end())
    return nullptr;
  const int device = Runtime::instance().current();
  hipFunction_t &handle = found->second.handles[device];
  if (handle == nullptr)
    handle = functionNamed(moduleOn(*found->second.binary, device), found->second.name.c_str());
  return handle;
}

} // namespace flyemu

// Names that compilers emit.
// NOLINTBEGIN(bugprone-reserved-identifier)
FLYEMU_API void **__hipRegisterFatBinary(const void *wrapper) {
  // {magic "HIPF", version, the bundle, unused}; the loader knows the wrapper and checks it.
  auto binary = std::make_unique<FatBinary>();
  binary->image = wrapper;
  FatBinary *handle = binary.get();
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  r.binaries[handle] = std::move(binary);
  return reinterpret_cast<void **>(handle);
}
FLYEMU_API void __hipUnregisterFatBinary(void **handle) {
  auto *binary = reinterpret_cast<FatBinary *>(handle);
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  const auto found = r.binaries.find(binary);
  if (found == r.binaries.end())
    return;
  // Its modules stay: this runs while the process ends, when what they need may be gone.
  const auto forget = [&](auto &all) {
    for (auto it = all.begin(); it != all.end();)
      it = it->second.binary == binary ? all.erase(it) : std::next(it);
  };
  forget(r.functions);
  forget(r.variables);
  forget(r.managed);
  r.binaries.erase(found);
}
FLYEMU_API void __hipRegisterFunction(void **handle, const void *hostFunction, char *,
                                      const char *deviceName, unsigned, void *, void *, dim3 *,
                                      dim3 *, int *) {
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  r.functions[hostFunction] = {reinterpret_cast<FatBinary *>(handle), deviceName, {}};
}
FLYEMU_API void __hipRegisterVar(void **handle, void *hostVariable, char *, char *deviceName, int,
                                 size_t, int, int) {
  Registry &r = registry();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  r.variables[hostVariable] = {reinterpret_cast<FatBinary *>(handle), deviceName, {}};
}
/// `pointer` is the host's way to the variable: it points to the managed memory from here on.
FLYEMU_API void __hipRegisterManagedVar(void **handle, void **pointer, void *initial,
                                        const char *name, size_t bytes, unsigned) {
  (void)guarded([&] {
    *pointer = nullptr;
    auto *memory = static_cast<uint8_t *>(allocate(bytes, MemoryKind::Managed, 0));
    std::memcpy(memory, initial, bytes);
    Registry &r = registry();
    const std::lock_guard<std::recursive_mutex> lock(r.mutex);
    r.managed[static_cast<const void *>(pointer)] = {reinterpret_cast<FatBinary *>(handle), name,
                                                     memory, bytes};
    *pointer = memory;
  });
}
FLYEMU_API void __hipRegisterSurface(void **, void *, char *, char *, int, int) {
  (void)notSupported("__hipRegisterSurface");
}
FLYEMU_API void __hipRegisterTexture(void **, void *, char *, char *, int, int, int) {
  (void)notSupported("__hipRegisterTexture");
}

FLYEMU_API hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamicLds,
                                                 hipStream_t stream) {
  configurations().push_back({grid, block, dynamicLds, stream, {}});
  return hipSuccess;
}
FLYEMU_API hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamicLds,
                                                hipStream_t *stream) {
  return guarded([&] {
    require(!configurations().empty(), hipErrorInvalidConfiguration,
            "__hipPopCallConfiguration: nothing was pushed");
    const LaunchConfiguration last = configurations().back();
    configurations().pop_back();
    *grid = last.grid;
    *block = last.block;
    *dynamicLds = last.dynamicLds;
    *stream = last.stream;
  });
}
// NOLINTEND(bugprone-reserved-identifier)

// The way of launching of older compilers: a configuration, each argument, the stub.
FLYEMU_API hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t dynamicLds,
                                       hipStream_t stream) {
  return __hipPushCallConfiguration(grid, block, dynamicLds, stream);
}
FLYEMU_API hipError_t hipSetupArgument(const void *argument, size_t bytes, size_t offset) {
  return guarded([&] {
    constexpr size_t kMost = 1 << 16;
    require(argument != nullptr && !configurations().empty() && bytes <= kMost && offset <= kMost,
            hipErrorInvalidValue, "hipSetupArgument: null pointer, or no hipConfigureCall before");
    std::vector<uint8_t> &arguments = configurations().back().arguments;
    arguments.resize(std::max(arguments.size(), offset + bytes));
    std::memcpy(arguments.data() + offset, argument, bytes);
  });
}
FLYEMU_API hipError_t hipLaunchByPtr(const void *function) {
  return guarded([&] {
    require(!configurations().empty(), hipErrorInvalidConfiguration,
            "hipLaunchByPtr: no hipConfigureCall before");
    LaunchConfiguration last = std::move(configurations().back());
    configurations().pop_back();
    size_t size = last.arguments.size();
    void *extra[] = {reinterpret_cast<void *>(kLaunchParamBufferPointer), last.arguments.data(),
                     reinterpret_cast<void *>(kLaunchParamBufferSize), &size,
                     reinterpret_cast<void *>(kLaunchParamEnd)};
    hipKernelNodeParams parameters = {};
    parameters.func = const_cast<void *>(function);
    parameters.gridDim = last.grid;
    parameters.blockDim = last.block;
    parameters.sharedMemBytes = static_cast<unsigned>(last.dynamicLds);
    parameters.extra = extra;
    enqueue(last.stream, hipGraphNodeTypeKernel, kernelWork(parameters));
  });
}

FLYEMU_API hipError_t hipGetSymbolAddress(void **pointer, const void *symbol) {
  return guarded([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipGetSymbolAddress: null pointer");
    size_t bytes = 0;
    *pointer = variable(symbol, bytes);
  });
}
FLYEMU_API hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
  return guarded([&] {
    require(bytes != nullptr, hipErrorInvalidValue, "hipGetSymbolSize: null pointer");
    variable(symbol, *bytes);
  });
}
FLYEMU_API hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                             size_t offset, hipMemcpyKind, hipStream_t stream) {
  return copySymbol(symbol, bytes, offset, stream,
                    [=](uint8_t *memory) { copy(memory, from, bytes); });
}
FLYEMU_API hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                               size_t offset, hipMemcpyKind, hipStream_t stream) {
  return copySymbol(symbol, bytes, offset, stream,
                    [=](const uint8_t *memory) { copy(to, memory, bytes); });
}
FLYEMU_API hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                        size_t offset, hipMemcpyKind kind) {
  return hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}
FLYEMU_API hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                          hipMemcpyKind kind) {
  return hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
}

FLYEMU_PER_THREAD(hipMemcpyFromSymbolAsync)
FLYEMU_PER_THREAD(hipMemcpyFromSymbol)
FLYEMU_PER_THREAD(hipMemcpyToSymbolAsync)
FLYEMU_PER_THREAD(hipMemcpyToSymbol)
