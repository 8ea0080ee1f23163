// SPDX-License-Identifier: Apache-2.0
//
// Graphs of work, and the work that streams get: done at once, or recorded while a stream captures.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hip/hip_types.h"

/// A step of a graph. Nodes belong to their graph.
struct hipGraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  std::function<void()> work;
  std::vector<hipGraphNode *> dependencies;
  hipKernelNodeParams kernel = {}; ///< as the caller gave it; pointers in it are the caller's
};

struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;

  hipGraphNode *add(hipGraphNodeType type, std::function<void()> work,
                    std::vector<hipGraphNode *> dependencies);
  bool holds(const hipGraphNode *node) const;
};

namespace flyemu {

/// Work for a stream: run now, or become a node of the graph that the stream captures.
/// EmulatorError (hipErrorInvalidHandle) for a stream that isn't alive.
void enqueue(hipStream_t stream, hipGraphNodeType type, std::function<void()> work);

/// EmulatorError (hipErrorStreamCaptureUnsupported) where a stream captures: the call would wait.
void refuseWhileCapturing(hipStream_t stream);

} // namespace flyemu

/// HIP's "stream per thread" form of a function: the default streams are one here.
#define FLYEMU_PER_THREAD(NAME)                                                                    \
  extern "C" decltype(NAME) NAME##_spt __attribute__((alias(#NAME), visibility("default")));
