// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes and their dependencies, instances, launches. (Capture: stream.cpp.)
#include "hip/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "hip/copies.h"
#include "hip/functions.h"
#include "hip/runtime.h"

using namespace flyemu;

/// A graph's steps in an order that its dependencies allow.
struct hipGraphExec {
  std::vector<std::pair<const hipGraphNode *, std::function<void()>>> steps;
};

hipGraphNode *ihipGraph::add(hipGraphNodeType type, std::function<void()> work,
                             std::vector<hipGraphNode *> dependencies) {
  nodes.push_back(std::make_unique<hipGraphNode>());
  nodes.back()->type = type;
  nodes.back()->work = std::move(work);
  nodes.back()->dependencies = std::move(dependencies);
  return nodes.back().get();
}

bool ihipGraph::holds(const hipGraphNode *node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto &owned) { return owned.get() == node; });
}

namespace {

std::mutex &graphMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}
std::set<hipGraph_t> &graphs() {
  static auto *alive = new std::set<hipGraph_t>;
  return *alive;
}
std::set<hipGraphExec_t> &instances() {
  static auto *alive = new std::set<hipGraphExec_t>;
  return *alive;
}

ihipGraph &graphOf(hipGraph_t graph) {
  const std::lock_guard<std::mutex> lock(graphMutex());
  require(graphs().count(graph) != 0, hipErrorInvalidValue, "no graph that is alive");
  return *graph;
}
hipGraphExec &instanceOf(hipGraphExec_t instance) {
  const std::lock_guard<std::mutex> lock(graphMutex());
  require(instances().count(instance) != 0, hipErrorInvalidValue,
          "no graph instance that is alive");
  return *instance;
}
/// The graph that a node belongs to.
ihipGraph &ownerOf(hipGraphNode_t node) {
  const std::lock_guard<std::mutex> lock(graphMutex());
  for (hipGraph_t graph : graphs())
    if (graph->holds(node))
      return *graph;
  throw EmulatorError(hipErrorInvalidValue, "no graph node that is alive");
}

std::vector<hipGraphNode *> dependenciesOf(const ihipGraph &graph, const hipGraphNode_t *nodes,
                                           size_t count) {
  require(nodes != nullptr || count == 0, hipErrorInvalidValue, "graph: null dependencies");
  std::vector<hipGraphNode *> out(nodes, nodes + count);
  for (const hipGraphNode *node : out)
    require(graph.holds(node), hipErrorInvalidValue, "graph: a dependency of another graph");
  return out;
}

hipError_t addNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
                   size_t count, hipGraphNodeType type, std::function<void()> work) {
  return guarded([&] {
    require(node != nullptr, hipErrorInvalidValue, "graph: null pointer for the node");
    ihipGraph &owner = graphOf(graph);
    *node = owner.add(type, std::move(work), dependenciesOf(owner, dependencies, count));
  });
}

/// Steps in the order of creation, each after what it depends on.
void order(const ihipGraph &graph, hipGraphExec &out) {
  enum class Mark : uint8_t { Open, Done };
  std::map<const hipGraphNode *, Mark> marks;
  const std::function<void(const hipGraphNode *)> visit = [&](const hipGraphNode *node) {
    const auto found = marks.find(node);
    if (found != marks.end()) {
      require(found->second == Mark::Done, hipErrorInvalidValue, "graph: dependencies in a circle");
      return;
    }
    marks[node] = Mark::Open;
    for (const hipGraphNode *before : node->dependencies)
      visit(before);
    marks[node] = Mark::Done;
    if (node->work)
      out.steps.emplace_back(node, node->work);
  };
  for (const auto &node : graph.nodes)
    visit(node.get());
}

hipError_t listNodes(const std::vector<hipGraphNode *> &all, hipGraphNode_t *nodes, size_t *count) {
  if (nodes != nullptr)
    std::copy_n(all.begin(), std::min(*count, all.size()), nodes);
  *count = all.size();
  return hipSuccess;
}

void fillWords(const hipMemsetParams &p) {
  for (size_t row = 0; row < std::max<size_t>(p.height, 1); ++row)
    fill(static_cast<uint8_t *>(p.dst) + row * p.pitch, &p.value, p.elementSize, p.width);
}

} // namespace

namespace flyemu {
hipGraph_t adoptGraph(std::unique_ptr<ihipGraph> graph) {
  const std::lock_guard<std::mutex> lock(graphMutex());
  return *graphs().insert(graph.release()).first;
}
} // namespace flyemu

FLYEMU_API hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  return guarded([&] {
    require(graph != nullptr && flags == 0, hipErrorInvalidValue,
            "hipGraphCreate: null pointer, or flags that are not 0");
    *graph = adoptGraph(std::make_unique<ihipGraph>());
  });
}
FLYEMU_API hipError_t hipGraphDestroy(hipGraph_t graph) {
  return guarded([&] {
    const std::lock_guard<std::mutex> lock(graphMutex());
    require(graphs().erase(graph) != 0, hipErrorInvalidValue, "no graph that is alive");
    delete graph;
  });
}
FLYEMU_API hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph,
                                            const hipGraphNode_t *dependencies, size_t count,
                                            const hipKernelNodeParams *p) {
  if (p == nullptr)
    return fail(hipErrorInvalidValue, "hipGraphAddKernelNode: null parameters");
  std::function<void()> work;
  const hipError_t prepared = guarded([&] { work = kernelWork(*p); });
  if (prepared != hipSuccess)
    return prepared;
  const hipError_t added =
      addNode(node, graph, dependencies, count, hipGraphNodeTypeKernel, std::move(work));
  if (added == hipSuccess)
    (*node)->kernel = *p;
  return added;
}
FLYEMU_API hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *p) {
  return guarded([&] {
    ownerOf(node);
    require(p != nullptr && node->type == hipGraphNodeTypeKernel, hipErrorInvalidValue,
            "hipGraphKernelNodeGetParams: null pointer, or no kernel node");
    *p = node->kernel;
  });
}
FLYEMU_API hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node,
                                                  const hipKernelNodeParams *p) {
  return guarded([&] {
    ownerOf(node);
    require(p != nullptr && node->type == hipGraphNodeTypeKernel, hipErrorInvalidValue,
            "hipGraphKernelNodeSetParams: null pointer, or no kernel node");
    node->work = kernelWork(*p);
    node->kernel = *p;
  });
}
FLYEMU_API hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t instance, hipGraphNode_t node,
                                                      const hipKernelNodeParams *p) {
  return guarded([&] {
    require(p != nullptr, hipErrorInvalidValue, "hipGraphExecKernelNodeSetParams: null pointer");
    for (auto &step : instanceOf(instance).steps)
      if (step.first == node) {
        step.second = kernelWork(*p);
        return;
      }
    throw EmulatorError(hipErrorInvalidValue, "hipGraphExecKernelNodeSetParams: no such node");
  });
}
FLYEMU_API hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                              const hipGraphNode_t *dependencies, size_t count,
                                              void *to, const void *from, size_t bytes,
                                              hipMemcpyKind) {
  if ((to == nullptr || from == nullptr) && bytes != 0)
    return fail(hipErrorInvalidValue, "hipGraphAddMemcpyNode1D: a copy from or to null");
  return addNode(node, graph, dependencies, count, hipGraphNodeTypeMemcpy,
                 [=] { copy(to, from, bytes); });
}
FLYEMU_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph,
                                            const hipGraphNode_t *dependencies, size_t count,
                                            const hipMemsetParams *p) {
  if (p == nullptr || p->dst == nullptr ||
      (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return fail(hipErrorInvalidValue,
                "hipGraphAddMemsetNode: null pointer, or elements that are not 1, 2 or 4 bytes");
  return addNode(node, graph, dependencies, count, hipGraphNodeTypeMemset,
                 [copy = *p] { fillWords(copy); });
}
FLYEMU_API hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph,
                                          const hipGraphNode_t *dependencies, size_t count,
                                          const hipHostNodeParams *p) {
  if (p == nullptr || p->fn == nullptr)
    return fail(hipErrorInvalidValue, "hipGraphAddHostNode: null pointer");
  return addNode(node, graph, dependencies, count, hipGraphNodeTypeHost,
                 [copy = *p] { copy.fn(copy.userData); });
}
FLYEMU_API hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph,
                                           const hipGraphNode_t *dependencies, size_t count) {
  return addNode(node, graph, dependencies, count, hipGraphNodeTypeEmpty, nullptr);
}
FLYEMU_API hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *node, hipGraph_t graph,
                                                const hipGraphNode_t *dependencies, size_t count,
                                                hipGraph_t child) {
  hipGraphExec steps;
  const hipError_t ordered = guarded([&] { order(graphOf(child), steps); });
  if (ordered != hipSuccess)
    return ordered;
  return addNode(node, graph, dependencies, count, hipGraphNodeTypeGraph, [steps] {
    for (const auto &step : steps.steps)
      step.second();
  });
}
FLYEMU_API hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from,
                                              const hipGraphNode_t *to, size_t count) {
  return guarded([&] {
    const ihipGraph &owner = graphOf(graph);
    const auto before = dependenciesOf(owner, from, count);
    const auto after = dependenciesOf(owner, to, count);
    for (size_t i = 0; i < count; ++i)
      after[i]->dependencies.push_back(before[i]);
  });
}
FLYEMU_API hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  return guarded([&] {
    require(count != nullptr, hipErrorInvalidValue, "hipGraphGetNodes: null pointer");
    std::vector<hipGraphNode *> all;
    for (const auto &node : graphOf(graph).nodes)
      all.push_back(node.get());
    listNodes(all, nodes, count);
  });
}
FLYEMU_API hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  return guarded([&] {
    require(count != nullptr, hipErrorInvalidValue, "hipGraphGetRootNodes: null pointer");
    std::vector<hipGraphNode *> roots;
    for (const auto &node : graphOf(graph).nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    listNodes(roots, nodes, count);
  });
}
FLYEMU_API hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *nodes,
                                                  size_t *count) {
  return guarded([&] {
    ownerOf(node);
    require(count != nullptr, hipErrorInvalidValue, "hipGraphNodeGetDependencies: null pointer");
    listNodes(node->dependencies, nodes, count);
  });
}
FLYEMU_API hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  return guarded([&] {
    ownerOf(node);
    require(type != nullptr, hipErrorInvalidValue, "hipGraphNodeGetType: null pointer");
    *type = node->type;
  });
}
FLYEMU_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *instance, hipGraph_t graph,
                                                   unsigned long long) {
  return guarded([&] {
    require(instance != nullptr, hipErrorInvalidValue, "hipGraphInstantiate: null pointer");
    auto made = std::make_unique<hipGraphExec>();
    order(graphOf(graph), *made);
    const std::lock_guard<std::mutex> lock(graphMutex());
    *instance = *instances().insert(made.release()).first;
  });
}
FLYEMU_API hipError_t hipGraphInstantiate(hipGraphExec_t *instance, hipGraph_t graph,
                                          hipGraphNode_t *errorNode, char *, size_t) {
  if (errorNode != nullptr)
    *errorNode = nullptr;
  return hipGraphInstantiateWithFlags(instance, graph, 0);
}
FLYEMU_API hipError_t hipGraphExecDestroy(hipGraphExec_t instance) {
  return guarded([&] {
    const std::lock_guard<std::mutex> lock(graphMutex());
    require(instances().erase(instance) != 0, hipErrorInvalidValue,
            "no graph instance that is alive");
    delete instance;
  });
}
/// Replaces the instance's steps: any change of the graph is taken.
FLYEMU_API hipError_t hipGraphExecUpdate(hipGraphExec_t instance, hipGraph_t graph,
                                         hipGraphNode_t *errorNode, int *result) {
  return guarded([&] {
    hipGraphExec steps;
    order(graphOf(graph), steps);
    instanceOf(instance).steps = std::move(steps.steps);
    if (errorNode != nullptr)
      *errorNode = nullptr;
    if (result != nullptr)
      *result = 0; // hipGraphExecUpdateSuccess
  });
}
FLYEMU_API hipError_t hipGraphUpload(hipGraphExec_t instance, hipStream_t stream) {
  return guarded([&] {
    instanceOf(instance);
    refuseWhileCapturing(stream);
  });
}
FLYEMU_API hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream) {
  return guarded([&] {
    const auto steps = instanceOf(instance).steps;
    enqueue(stream, hipGraphNodeTypeGraph, [steps] {
      for (const auto &step : steps)
        step.second();
    });
  });
}

FLYEMU_PER_THREAD(hipGraphLaunch)
