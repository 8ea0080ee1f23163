// SPDX-License-Identifier: Apache-2.0
//
// Streams and events. Work is done when a call returns, so that streams are always empty and an
// event's time is when it was recorded.
#include <chrono>
#include <set>

#include "hip/runtime.h"

using namespace flyemu;

struct ihipStream_t {
  unsigned flags = 0;
  int priority = 0;
  int device = 0;
};

struct ihipEvent_t {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

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

} // namespace

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
    streams().destroy(stream);
  });
}
FLYEMU_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  return guarded([&] { checkStream(stream); });
}
FLYEMU_API hipError_t hipStreamQuery(hipStream_t stream) {
  return guarded([&] { checkStream(stream); });
}
FLYEMU_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return guarded([&] {
    checkStream(stream);
    events().check(event);
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
    *device = isDefault(stream) ? Runtime::instance().current() : streams().check(stream).device;
  });
}
FLYEMU_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                           void *data, unsigned) {
  return guarded([&] {
    checkStream(stream);
    require(callback != nullptr, hipErrorInvalidValue, "hipStreamAddCallback: null pointer");
    callback(stream, hipSuccess, data);
  });
}
FLYEMU_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
  return guarded([&] {
    checkStream(stream);
    require(function != nullptr, hipErrorInvalidValue, "hipLaunchHostFunc: null pointer");
    function(data);
  });
}
/// Nothing is ever being captured: hipStreamCaptureStatusNone.
FLYEMU_API hipError_t hipStreamIsCapturing(hipStream_t stream, int *status) {
  return guarded([&] {
    checkStream(stream);
    require(status != nullptr, hipErrorInvalidValue, "hipStreamIsCapturing: null pointer");
    *status = 0;
  });
}
FLYEMU_API hipError_t hipStreamBeginCapture(hipStream_t, int) {
  return notSupported("hipStreamBeginCapture");
}
FLYEMU_API hipError_t hipStreamEndCapture(hipStream_t, void **) {
  return notSupported("hipStreamEndCapture");
}

FLYEMU_API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return guarded([&] {
    require(event != nullptr, hipErrorInvalidValue, "hipEventCreate: null pointer");
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
    checkStream(stream);
    ihipEvent_t &recorded = events().check(event);
    recorded.recorded = true;
    recorded.time = std::chrono::steady_clock::now();
  });
}
FLYEMU_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
  return hipEventRecord(event, stream);
}
FLYEMU_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] { events().check(event); });
}
FLYEMU_API hipError_t hipEventQuery(hipEvent_t event) {
  return guarded([&] { events().check(event); });
}
FLYEMU_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  return guarded([&] {
    require(milliseconds != nullptr, hipErrorInvalidValue, "hipEventElapsedTime: null pointer");
    const ihipEvent_t &first = events().check(start);
    const ihipEvent_t &last = events().check(stop);
    require(first.recorded && last.recorded, hipErrorInvalidHandle,
            "hipEventElapsedTime: an event that was never recorded");
    *milliseconds = std::chrono::duration<float, std::milli>(last.time - first.time).count();
  });
}
