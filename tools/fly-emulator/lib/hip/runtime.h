// SPDX-License-Identifier: Apache-2.0
//
// The state behind the HIP C API: devices, modules, streams, and each thread's last error.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "device/architecture.h"
#include "device/launch.h"
#include "execute/program.h"
#include "hip/hip_types.h"
#include "predict/prediction.h"
#include "profile/profile_log.h"
#include "sanitize/report.h"
#include "support/error.h"

namespace flyemu {

struct Device {
  const Architecture *architecture = nullptr;
  int ordinal = 0;
  uint64_t peers = 0; ///< devices that access was enabled to, one bit each
};

/// A loaded code object.
struct Module {
  std::unique_ptr<CodeObject> object;
  std::unique_ptr<Program> program;
  int device = 0;
  std::vector<std::unique_ptr<ihipModuleSymbol_t>> functions;
  std::mutex fidelityMutex;
  std::map<const KernelMetadata *, std::string> fidelity; ///< made at a kernel's first launch
  /// What the last predicted launch recorded, to be predicted again with other constants.
  std::shared_ptr<Predictor> predictor;
};

class Runtime {
public:
  static Runtime &instance();

  /// Devices as the environment describes them, made on first use.
  const std::vector<Device> &devices();
  Device &device(int ordinal); ///< EmulatorError (hipErrorInvalidDevice) for another number
  void setDevices(const std::string &list);

  int current();
  void setCurrent(int ordinal);

  Module *load(const void *image, size_t size);
  void unload(Module *module);
  bool isModule(const Module *module);

  LaunchOptions launchOptions();
  void setSeed(uint64_t seed);
  void setInstructionLimit(uint64_t limit);
  void setTimeLimit(uint64_t seconds);
  void setReadGranularity(uint64_t bytes);
  unsigned sanitizers();
  void setSanitizers(unsigned sanitizers);
  ReportOptions reportOptions();
  void setReportOptions(const ReportOptions &options);
  /// Is code checked when it is loaded?
  bool checksCode();
  void setChecksCode(bool checks);
  /// Where launches are saved; empty for nowhere.
  std::string saveFolder();
  void setSaveFolder(std::string folder);
  Profiling profiling();
  void setProfiling(Profiling profiling);
  /// Whether launches are predicted, and how; null if not.
  std::shared_ptr<const PredictionOptions> prediction();
  void setPrediction(std::shared_ptr<const PredictionOptions> options);

private:
  void initialise();
  std::vector<Device> parse(const std::string &list) const;

  std::mutex mutex_;
  bool initialised_ = false;
  std::vector<Device> devices_;
  std::set<Module *> modules_;
  LaunchOptions options_;
  unsigned sanitizers_ = 0;
  ReportOptions reportOptions_;
  bool checksCode_ = false;
  std::string saveFolder_;
  Profiling profiling_ = Profiling::Off;
  std::shared_ptr<const PredictionOptions> prediction_;
};

/// This thread's errors: what flyemu_last_error and hipGetLastError give.
struct ThreadErrors {
  std::string text;
  hipError_t last = hipSuccess;
  // What the last launch left, as JSON, and the answer to the last question for a text.
  std::string reports = "[]";
  uint64_t profile = 0; ///< number in the log of profiles
  std::string prediction = "{}";
  uint64_t predictionNumber = 0;
  std::string fidelity = "{}";
  std::string answer;
};
ThreadErrors &threadErrors();

/// Record a failure for flyemu_last_error, and return its code.
hipError_t fail(hipError_t code, std::string text);

/// Run the body of an API function: exceptions become error codes, and success clears the text.
template <typename F> hipError_t guarded(F &&body) noexcept {
  try {
    threadErrors().text.clear();
    body();
    return hipSuccess;
  } catch (const EmulatorError &error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc &) {
    return fail(hipErrorOutOfMemory, "out of host memory");
  } catch (const std::exception &error) {
    return fail(hipErrorUnknown, error.what());
  }
}

inline void require(bool condition, hipError_t code, const char *text) {
  if (!condition)
    throw EmulatorError(code, text);
}

/// The primary context of a device.
hipCtx_t contextOf(int device);

/// Print a line on standard error, once in a process: HIP's callers see a number only.
void sayOnce(const std::string &text);

/// "says so once": a call that the emulator does not offer.
hipError_t notSupported(const char *function);

} // namespace flyemu

/// What hipFunction_t points to.
struct ihipModuleSymbol_t {
  flyemu::Module *module = nullptr;
  const flyemu::KernelMetadata *kernel = nullptr;
};

#define FLYEMU_API extern "C" __attribute__((visibility("default")))
