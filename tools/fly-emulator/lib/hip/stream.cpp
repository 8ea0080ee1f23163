// SPDX-License-Identifier: Apache-2.0
//
// Streams and events. Work is done when a call returns, so that streams are always empty and an
// event's time is when it was recorded; a stream that captures records its work into a graph.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>

#include "hip/device_failure.h"
#include "hip/functions.h"
#include "hip/graph.h"
#include "hip/ipc.h"
#include "hip/runtime.h"

using namespace flyemu;

/// A capture in progress, which all streams that joined it share.
struct Capture {
  std::unique_ptr<ihipGraph> graph = std::make_unique<ihipGraph>();
  ihipStream_t *origin = nullptr;
  uint64_t id = 0;
  bool invalidated = false;
  std::set<ihipStream_t *> streams;
};

struct ihipStream_t {
  std::shared_ptr<Capture> capture;
  std::vector<hipGraphNode *> tails; ///< what the next captured work comes after
  unsigned flags = 0;
  int priority = 0;
  int device = 0;
};

struct ihipEvent_t {
  unsigned flags = 0;
  int device = 0; ///< of the stream that it was last recorded on
  bool recorded = false;
  std::shared_ptr<Capture> capture; ///< that it was recorded in
  std::vector<hipGraphNode *> tails;
  std::chrono::steady_clock::time_point time;
  std::optional<SharedMemory> shared; ///< of an event that other processes know
};

constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kEventInterprocess = 4;
/// All that there are: blocking synchronisation too, and how far a record flushes caches.
constexpr unsigned kEventFlags = 7 | 0xe0000000;

namespace {

/// Handles that are alive, so that a stale one is an error and no crash.
template <typename T> class Handles {
public:
  T *make() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return *alive_.insert(new T).first;
  }
  void destroy(T *handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alive_.erase(handle) == 0)
      throw EmulatorError(hipErrorInvalidHandle, "no handle that is alive");
    delete handle;
  }
  T &check(T *handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alive_.count(handle) == 0)
      throw EmulatorError(hipErrorInvalidHandle, "no handle that is alive");
    return *handle;
  }

private:
  std::mutex mutex_;
  std::set<T *> alive_;
};

Handles<ihipStream_t> &streams() {
  static auto *handles = new Handles<ihipStream_t>;
  return *handles;
}
Handles<ihipEvent_t> &events() {
  static auto *handles = new Handles<ihipEvent_t>;
  return *handles;
}

/// The default streams: null, legacy, per-thread.
bool isDefault(hipStream_t stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

void checkStream(hipStream_t stream) {
  if (!isDefault(stream))
    streams().check(stream);
}

/// The capture that a stream takes part in, or null.
Capture *captureOf(hipStream_t stream) {
  return isDefault(stream) ? nullptr : streams().check(stream).capture.get();
}

void join(ihipStream_t &stream, const std::shared_ptr<Capture> &capture,
          const std::vector<hipGraphNode *> &after) {
  stream.capture = capture;
  capture->streams.insert(&stream);
  for (hipGraphNode *node : after)
    if (std::find(stream.tails.begin(), stream.tails.end(), node) == stream.tails.end())
      stream.tails.push_back(node);
}

/// Is a node among those that others come after?
bool precedes(const hipGraphNode *node, const std::vector<hipGraphNode *> &others) {
  return std::any_of(others.begin(), others.end(), [&](const hipGraphNode *other) {
    return other == node || precedes(node, other->dependencies);
  });
}

} // namespace

namespace flyemu {

void enqueue(hipStream_t stream, hipGraphNodeType type, std::function<void()> work) {
  Capture *capture = captureOf(stream);
  requireUnfailed(deviceOf(stream));
  if (capture == nullptr) {
    work();
    return;
  }
  require(!capture->invalidated, hipErrorStreamCaptureInvalidated,
          "the stream's capture has been invalidated by an earlier call");
  stream->tails = {capture->graph->add(type, std::move(work), stream->tails)};
}

void refuseWhileCapturing(hipStream_t stream) {
  Capture *capture = captureOf(stream);
  if (capture == nullptr)
    return;
  capture->invalidated = true;
  throw EmulatorError(hipErrorStreamCaptureUnsupported,
                      "a call that waits for a stream, while the stream captures");
}

int deviceOf(hipStream_t stream) {
  return isDefault(stream) ? Runtime::instance().current() : streams().check(stream).device;
}

SharedMemory::Name shareEvent(hipEvent_t event) {
  ihipEvent_t &shared = events().check(event);
  require((shared.flags & kEventInterprocess) != 0, hipErrorInvalidConfiguration,
          "hipIpcGetEventHandle: the event was made without hipEventInterprocess");
  if (!shared.shared)
    shared.shared.emplace(SharedMemory::create(0));
  return shared.shared->name();
}

hipEvent_t importEvent() {
  ihipEvent_t *made = events().make();
  made->flags = kEventDisableTiming | kEventInterprocess;
  return made;
}

} // namespace flyemu

FLYEMU_API hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags,
                                                  int priority) {
  return guarded([&] {
    require(stream != nullptr, hipErrorInvalidValue, "hipStreamCreate: null pointer");
    ihipStream_t *made = streams().make();
    made->flags = flags;
    made->priority = priority;
    made->device = Runtime::instance().current();
    *stream = made;
  });
}
FLYEMU_API hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}
FLYEMU_API hipError_t hipStreamCreate(hipStream_t *stream) {
  return hipStreamCreateWithPriority(stream, 0, 0);
}
FLYEMU_API hipError_t hipStreamDestroy(hipStream_t stream) {
  return guarded([&] {
    require(!isDefault(stream), hipErrorInvalidHandle, "hipStreamDestroy: the default stream");
    refuseWhileCapturing(stream);
    streams().destroy(stream);
  });
}
FLYEMU_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  return guarded([&] {
    refuseWhileCapturing(stream);
    requireUnfailed(deviceOf(stream));
  });
}
FLYEMU_API hipError_t hipStreamQuery(hipStream_t stream) { return hipStreamSynchronize(stream); }
/// An event of a capture brings the stream into it.
FLYEMU_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return guarded([&] {
    requireUnfailed(deviceOf(stream));
    const ihipEvent_t &waited = events().check(event);
    if (waited.capture == nullptr)
      return;
    require(!isDefault(stream), hipErrorStreamCaptureUnsupported,
            "hipStreamWaitEvent: the default stream cannot join a capture");
    require(stream->capture == nullptr || stream->capture == waited.capture,
            hipErrorStreamCaptureMerge, "hipStreamWaitEvent: two captures would become one");
    join(*stream, waited.capture, waited.tails);
  });
}
FLYEMU_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  return guarded([&] {
    require(flags != nullptr, hipErrorInvalidValue, "hipStreamGetFlags: null pointer");
    *flags = isDefault(stream) ? 0 : streams().check(stream).flags;
  });
}
FLYEMU_API hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  return guarded([&] {
    require(priority != nullptr, hipErrorInvalidValue, "hipStreamGetPriority: null pointer");
    *priority = isDefault(stream) ? 0 : streams().check(stream).priority;
  });
}
FLYEMU_API hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
  return guarded([&] {
    require(device != nullptr, hipErrorInvalidValue, "hipStreamGetDevice: null pointer");
    *device = deviceOf(stream);
  });
}
FLYEMU_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                           void *data, unsigned) {
  return guarded([&] {
    require(callback != nullptr, hipErrorInvalidValue, "hipStreamAddCallback: null pointer");
    enqueue(stream, hipGraphNodeTypeHost, [=] { callback(stream, hipSuccess, data); });
  });
}
FLYEMU_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
  return guarded([&] {
    require(function != nullptr, hipErrorInvalidValue, "hipLaunchHostFunc: null pointer");
    enqueue(stream, hipGraphNodeTypeHost, [=] { function(data); });
  });
}
FLYEMU_API hipError_t hipStreamBeginCapture(hipStream_t stream, int) {
  return guarded([&] {
    static std::atomic<uint64_t> captures{0};
    require(!isDefault(stream), hipErrorStreamCaptureUnsupported,
            "hipStreamBeginCapture: the default stream cannot capture");
    ihipStream_t &origin = streams().check(stream);
    require(origin.capture == nullptr, hipErrorIllegalState,
            "hipStreamBeginCapture: the stream captures already");
    const auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->id = ++captures;
    origin.tails.clear();
    join(origin, capture, {});
  });
}
FLYEMU_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
  return guarded([&] {
    require(graph != nullptr, hipErrorInvalidValue, "hipStreamEndCapture: null pointer");
    *graph = nullptr;
    Capture *active = captureOf(stream);
    require(active != nullptr, hipErrorIllegalState, "hipStreamEndCapture: no capture has begun");
    require(active->origin == stream, hipErrorStreamCaptureUnmatched,
            "hipStreamEndCapture: the capture began on another stream");
    const std::shared_ptr<Capture> capture = stream->capture;
    const std::vector<hipGraphNode *> last = stream->tails;
    bool joined = true;
    for (ihipStream_t *member : capture->streams) {
      for (const hipGraphNode *tail : member->tails)
        joined &= precedes(tail, last);
      member->capture.reset();
      member->tails.clear();
    }
    require(!capture->invalidated, hipErrorStreamCaptureInvalidated,
            "hipStreamEndCapture: a call that cannot be captured invalidated the capture");
    require(joined, hipErrorStreamCaptureUnjoined,
            "hipStreamEndCapture: a stream that joined the capture never came back "
            "(hipEventRecord on it, hipStreamWaitEvent on the first stream)");
    *graph = adoptGraph(std::move(capture->graph));
  });
}
FLYEMU_API hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
                                                 unsigned long long *id, hipGraph_t *graph,
                                                 const hipGraphNode_t **dependencies,
                                                 size_t *count) {
  return guarded([&] {
    const Capture *capture = captureOf(stream);
    require(status != nullptr, hipErrorInvalidValue, "hipStreamGetCaptureInfo: null pointer");
    *status = capture == nullptr     ? hipStreamCaptureStatusNone
              : capture->invalidated ? hipStreamCaptureStatusInvalidated
                                     : hipStreamCaptureStatusActive;
    if (capture == nullptr)
      return;
    if (id != nullptr)
      *id = capture->id;
    if (graph != nullptr)
      *graph = capture->graph.get();
    if (dependencies != nullptr)
      *dependencies = stream->tails.data();
    if (count != nullptr)
      *count = stream->tails.size();
  });
}
FLYEMU_API hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status,
                                              unsigned long long *id) {
  return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
FLYEMU_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  return hipStreamGetCaptureInfo(stream, status, nullptr);
}
/// Captures here never forbid calls of other threads, whatever the mode.
FLYEMU_API hipError_t hipThreadExchangeStreamCaptureMode(int *mode) {
  return guarded([&] {
    thread_local int current = 0;
    require(mode != nullptr, hipErrorInvalidValue,
            "hipThreadExchangeStreamCaptureMode: null pointer");
    std::swap(*mode, current);
  });
}
/// Of HIP's older clients: the number itself, -1 for a stream that is none.
FLYEMU_API int hipGetStreamDeviceId(hipStream_t stream) {
  int device = -1;
  guarded([&] { device = deviceOf(stream); });
  return device;
}
FLYEMU_API hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *id) {
  return guarded([&] {
    checkStream(stream);
    require(id != nullptr, hipErrorInvalidValue, "hipStreamGetId: null pointer");
    *id = reinterpret_cast<uintptr_t>(stream);
  });
}

FLYEMU_API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return guarded([&] {
    require(event != nullptr, hipErrorInvalidValue, "hipEventCreate: null pointer");
    require((flags & ~kEventFlags) == 0, hipErrorInvalidValue,
            "hipEventCreate: flags that there are not");
    require((flags & kEventInterprocess) == 0 || (flags & kEventDisableTiming) != 0,
            hipErrorInvalidValue,
            "hipEventCreate: hipEventInterprocess goes with hipEventDisableTiming only");
    ihipEvent_t *made = events().make();
    made->flags = flags;
    *event = made;
  });
}
FLYEMU_API hipError_t hipEventCreate(hipEvent_t *event) {
  return hipEventCreateWithFlags(event, 0);
}
FLYEMU_API hipError_t hipEventDestroy(hipEvent_t event) {
  return guarded([&] { events().destroy(event); });
}
FLYEMU_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return guarded([&] {
    requireUnfailed(deviceOf(stream));
    ihipEvent_t &recorded = events().check(event);
    recorded.device = deviceOf(stream);
    recorded.capture = isDefault(stream) ? nullptr : stream->capture;
    recorded.tails = recorded.capture != nullptr ? stream->tails : std::vector<hipGraphNode *>();
    recorded.recorded = true;
    recorded.time = std::chrono::steady_clock::now();
  });
}
FLYEMU_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
  return hipEventRecord(event, stream);
}
FLYEMU_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] { requireUnfailed(events().check(event).device); });
}
FLYEMU_API hipError_t hipEventQuery(hipEvent_t event) { return hipEventSynchronize(event); }
FLYEMU_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  return guarded([&] {
    require(milliseconds != nullptr, hipErrorInvalidValue, "hipEventElapsedTime: null pointer");
    const ihipEvent_t &first = events().check(start);
    const ihipEvent_t &last = events().check(stop);
    require(((first.flags | last.flags) & kEventDisableTiming) == 0, hipErrorInvalidHandle,
            "hipEventElapsedTime: an event with hipEventDisableTiming");
    require(first.recorded && last.recorded, hipErrorInvalidHandle,
            "hipEventElapsedTime: an event that was never recorded");
    requireUnfailed(last.device);
    *milliseconds = std::chrono::duration<float, std::milli>(last.time - first.time).count();
  });
}

FLYEMU_PER_THREAD(hipEventRecord)
FLYEMU_PER_THREAD(hipLaunchHostFunc)
FLYEMU_PER_THREAD(hipStreamAddCallback)
FLYEMU_PER_THREAD(hipStreamBeginCapture)
FLYEMU_PER_THREAD(hipStreamEndCapture)
FLYEMU_PER_THREAD(hipStreamGetCaptureInfo)
FLYEMU_PER_THREAD(hipStreamGetCaptureInfo_v2)
FLYEMU_PER_THREAD(hipStreamGetFlags)
FLYEMU_PER_THREAD(hipStreamGetPriority)
FLYEMU_PER_THREAD(hipStreamIsCapturing)
FLYEMU_PER_THREAD(hipStreamQuery)
FLYEMU_PER_THREAD(hipStreamSynchronize)
FLYEMU_PER_THREAD(hipStreamWaitEvent)
