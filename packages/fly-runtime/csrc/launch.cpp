// SPDX-License-Identifier: Apache-2.0
//
// flydsl_launch: one kernel of an artifact, with its extents checked against the device.
#include "launch.h"

#include "artifact_state.h"
#include "error.h"

#include <array>

namespace flydsl::runtime {

thread_local RunningCall runningCall;

namespace {

std::string triple(const int64_t extents[3]) {
  return "(" + std::to_string(extents[0]) + ", " + std::to_string(extents[1]) + ", " +
         std::to_string(extents[2]) + ")";
}

struct LaunchRequest {
  const std::string &entry;
  const Kernel &kernel;
  const int64_t *grid;
  const int64_t *block;
  int64_t sharedBytes;

  [[noreturn]] void refuse(const std::string &why) const {
    fail(FLYDSL_ERROR_VALUE, entry + ": kernel '" + kernel.name + "': " + why);
  }
};

// The queue packet of AMD devices holds the grid in work-items, as 32 bits per axis.
constexpr int64_t kMaxWorkItems = UINT32_MAX;
constexpr int64_t kMaxCluster = 16;        // blocks, on the chips that have clusters
constexpr int64_t kMaxPortableCluster = 8; // that all of NVIDIA's take without being asked to
// How the names of AMD's processors with clusters begin; flydsl/runtime/chips.py has it, too, and
// tests/test_launch.py compares them.
constexpr const char *kClusterProcessors = "gfx125";

void check_block(const LaunchRequest &request, const Device &device) {
  int64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t extent = request.block[axis];
    if (extent <= 0)
      request.refuse("block " + triple(request.block) + " has an extent that is not positive");
    if (extent > device.maxBlock[axis])
      request.refuse("block " + triple(request.block) + " is beyond the device's limit of " +
                     triple(device.maxBlock) + " threads");
    threads *= extent;
    if (threads > device.maxThreads)
      request.refuse("block " + triple(request.block) + " has more threads than the " +
                     std::to_string(device.maxThreads) + " that a workgroup may have");
  }
}

void check_grid(const LaunchRequest &request, const Device &device, bool countsWorkItems) {
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t extent = request.grid[axis];
    if (extent < 0)
      request.refuse("grid " + triple(request.grid) + " has a negative extent");
    if (extent > device.maxGrid[axis] ||
        (countsWorkItems && extent > kMaxWorkItems / request.block[axis]))
      request.refuse("grid " + triple(request.grid) + " of blocks " + triple(request.block) +
                     " is beyond the device's limits of " + triple(device.maxGrid) + " blocks" +
                     (countsWorkItems ? " and 4294967295 threads per axis" : ""));
  }
}

void check_lds(const LaunchRequest &request, const Device &device) {
  if (request.sharedBytes < 0)
    request.refuse("dynamic LDS of " + std::to_string(request.sharedBytes) + " bytes is negative");
  // Static LDS alone was checked by the compiler and is again when the code object is loaded.
  if (request.sharedBytes > 0 && request.sharedBytes > device.ldsBytes - request.kernel.ldsBytes)
    request.refuse("LDS of " + std::to_string(request.kernel.ldsBytes) + " static and " +
                   std::to_string(request.sharedBytes) + " dynamic bytes is more than the " +
                   std::to_string(device.ldsBytes) + " that a workgroup may have on " +
                   device.architecture);
}

bool is_cluster(const int64_t *cluster) {
  return cluster != nullptr && (cluster[0] != 1 || cluster[1] != 1 || cluster[2] != 1);
}

void check_cluster(const LaunchRequest &request, const int64_t *cluster, const Device &device,
                   const DeviceApi &api) {
  if (!api.cuda() && device.architecture.rfind(kClusterProcessors, 0) != 0)
    request.refuse(device.architecture +
                   " has no clusters of workgroups, but the kernel asks for " + triple(cluster));
  int64_t blocks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t extent = cluster[axis];
    if (extent <= 0 || extent > kMaxCluster || (blocks *= extent) > kMaxCluster)
      request.refuse("cluster " + triple(cluster) + " is not of 1 to " +
                     std::to_string(kMaxCluster) + " blocks");
    if (request.grid[axis] % extent != 0)
      request.refuse("grid " + triple(request.grid) + " is no multiple of the cluster " +
                     triple(cluster));
  }
}

// A launch with attributes: with a cluster, and of a kernel that waits itself for the launches
// before it, which the driver may begin while they end.
void launch_extended(const DeviceApi &api, const LaunchRequest &request, FunctionHandle function,
                     const int64_t *cluster, bool programmatic, int64_t sharedBytes, void *stream,
                     void **params) {
  std::array<CudaLaunchAttribute, 2> attributes{};
  CudaLaunchConfig config{};
  if (is_cluster(cluster)) {
    if (cluster[0] * cluster[1] * cluster[2] > kMaxPortableCluster)
      api.call(api.cuFuncSetAttribute, function, kCudaFunctionNonPortableClusters, 1);
    CudaLaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = kCudaLaunchCluster;
    for (int axis = 0; axis < 3; ++axis)
      attribute.cluster[axis] = static_cast<unsigned>(cluster[axis]);
  }
  if (programmatic) {
    CudaLaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = kCudaLaunchProgrammatic;
    attribute.allowed = 1;
  }
  for (int axis = 0; axis < 3; ++axis) {
    config.grid[axis] = static_cast<unsigned>(request.grid[axis]);
    config.block[axis] = static_cast<unsigned>(request.block[axis]);
  }
  config.sharedBytes = static_cast<unsigned>(sharedBytes);
  config.stream = stream;
  config.attributes = attributes.data();
  api.call(api.cuLaunchKernelEx, static_cast<const CudaLaunchConfig *>(&config), function, params,
           static_cast<void **>(nullptr));
}

// `device` is current.
void launch_on(const Devices &all, const Device &device, RunningCall &call, ArtifactState &state,
               uint32_t number, const LaunchRequest &request, const int64_t *cluster, void *stream,
               void **params) {
  const DeviceApi &api = *all.api;
  const int64_t *grid = request.grid, *block = request.block;
  check_block(request, device);
  check_grid(request, device, !api.cuda());
  check_lds(request, device);
  if (is_cluster(cluster))
    check_cluster(request, cluster, device, api);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  const LoadedKernel &kernel = state.module_on(all, device).kernels[number];
  const int64_t sharedBytes = request.sharedBytes + kernel.dynamicBytes;
  // An AMD kernel says in its metadata what its cluster is.
  const bool programmatic = request.kernel.waitsFirst && all.programmaticLaunches;
  const bool extended = programmatic || (is_cluster(cluster) && api.cuda());
  if (call.memory != nullptr)
    call.memory->register_all();
  if (extended ? static_cast<bool>(api.cuLaunchKernelEx) : static_cast<bool>(api.launchKernel))
    call.launched = true;
  try {
    if (extended)
      launch_extended(api, request, kernel.function, cluster, programmatic, sharedBytes, stream,
                      params);
    else
      api.call(api.launchKernel, kernel.function, static_cast<unsigned>(grid[0]),
               static_cast<unsigned>(grid[1]), static_cast<unsigned>(grid[2]),
               static_cast<unsigned>(block[0]), static_cast<unsigned>(block[1]),
               static_cast<unsigned>(block[2]), static_cast<unsigned>(sharedBytes), stream, params,
               static_cast<void **>(nullptr));
  } catch (Failure &failure) {
    fail(failure.status, request.entry + ": kernel '" + request.kernel.name + "' on " +
                             device.describe(all.emulated()) + ": " + failure.text);
  }
}

void launch(RunningCall &call, const FlyArtifact *artifact, uint32_t number, const int64_t *grid,
            const int64_t *block, const int64_t *cluster, int64_t sharedBytes, void *stream,
            void **params) {
  ArtifactState &state = ArtifactState::of(artifact);
  const Note &note = state.note();
  if (number >= note.kernels.size())
    fail(FLYDSL_ERROR_VALUE,
         note.name + ": the artifact has no kernel number " + std::to_string(number));
  const LaunchRequest request{note.name, note.kernels[number], grid, block, sharedBytes};
  if (grid == nullptr || block == nullptr)
    request.refuse("grid or block is NULL");
  const Devices &all = devices();
  if (call.device != nullptr)
    return launch_on(all, *call.device, call, state, number, request, cluster, stream, params);
  const CurrentDevice scope(all);
  launch_on(all, all.current(), call, state, number, request, cluster, stream, params);
}

} // namespace
} // namespace flydsl::runtime

int32_t flydsl_launch(const FlyArtifact *artifact, uint32_t kernel, const int64_t grid[3],
                      const int64_t block[3], const int64_t cluster[3], int64_t shared_bytes,
                      void *stream, void **params) {
  using namespace flydsl::runtime;
  RunningCall &call = runningCall;
  return status_in_call(call, guarded([&] {
                          launch(call, artifact, kernel, grid, block, cluster, shared_bytes, stream,
                                 params);
                        }));
}
