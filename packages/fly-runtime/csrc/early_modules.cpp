// SPDX-License-Identifier: Apache-2.0
#include "early_modules.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string_view>

#include <pthread.h>

namespace flydsl::runtime {

namespace {

// Where no artifact comes of PTX, its module stays until the process ends, as all modules do. Its
// text goes when so many have come behind it.
constexpr size_t kMostWaiting = 64;

struct EarlyModule {
  int device;
  std::string ptx;
  std::future<ModuleHandle> module;
};

struct Waiting {
  std::mutex mutex;
  std::deque<EarlyModule> all;
};

// Never freed: threads use it until the process ends, after static destructors too.
std::atomic<Waiting *> waiting{new Waiting};

// A process that was forked off has none of the threads that would keep the promises.
const bool watching = [] {
  if (pthread_atfork(nullptr, nullptr, [] { waiting = new Waiting; }) != 0)
    std::abort();
  return true;
}();

} // namespace

std::promise<ModuleHandle> announce_module(int device, std::string ptx) {
  std::promise<ModuleHandle> promise;
  Waiting &here = *waiting;
  const std::lock_guard<std::mutex> lock(here.mutex);
  here.all.push_back({device, std::move(ptx), promise.get_future()});
  if (here.all.size() > kMostWaiting)
    here.all.pop_front();
  return promise;
}

ModuleHandle take_early_module(int device, const void *code, size_t bytes) {
  std::string_view wanted(static_cast<const char *>(code), bytes);
  // An artifact's size may count the end of a C string.
  if (!wanted.empty() && wanted.back() == '\0')
    wanted.remove_suffix(1);
  std::future<ModuleHandle> module;
  {
    Waiting &here = *waiting;
    const std::lock_guard<std::mutex> lock(here.mutex);
    const auto found = std::find_if(here.all.begin(), here.all.end(), [&](const EarlyModule &one) {
      return one.device == device && one.ptx == wanted;
    });
    if (found == here.all.end())
      return nullptr;
    module = std::move(found->module);
    here.all.erase(found);
  }
  try {
    return module.get();
  } catch (const std::future_error &) { // given up
    return nullptr;
  }
}

} // namespace flydsl::runtime
