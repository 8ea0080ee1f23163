// SPDX-License-Identifier: Apache-2.0
#include "hip/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "check/code_check.h"
#include "device/memory_map.h"
#include "hip/allocation.h"
#include "hip/device_failure.h"
#include "hip/offload_bundle.h"
#include "support/environment.h"

namespace flyemu {
namespace {

thread_local int currentDevice = 0;

/// Reads beyond an allocation stay in its last page, which is there.
uint32_t requireGranularity(uint64_t bytes) {
  if (bytes == 0 || bytes > kPageBytes || (bytes & (bytes - 1)) != 0)
    throw EmulatorError(hipErrorInvalidValue,
                        "FLYDSL_EMU_READ_GRANULARITY: expected a power of two from 1 (exact) to " +
                            std::to_string(kPageBytes) + ", got " + std::to_string(bytes));
  return static_cast<uint32_t>(bytes);
}

constexpr uint64_t kDefaultInstructionLimit = uint64_t{1} << 31;
constexpr uint64_t kDefaultSeconds = 300;

} // namespace

Runtime &Runtime::instance() {
  // Never destroyed: clients call from their own static destructors.
  static auto *runtime = new Runtime;
  return *runtime;
}

std::vector<Device> Runtime::parse(const std::string &list) const {
  std::vector<Device> devices;
  std::string rest = list + ",";
  for (size_t comma = 0; (comma = rest.find(',')) != std::string::npos;
       rest = rest.substr(comma + 1)) {
    std::string name = rest.substr(0, comma);
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    if (name.empty())
      continue;
    // Target features ("gfx942:sramecc+:xnack-") don't change what is emulated.
    name = name.substr(0, name.find(':'));
    Device device;
    device.architecture = findArchitecture(name);
    device.ordinal = static_cast<int>(devices.size());
    if (device.architecture == nullptr)
      throw EmulatorError(hipErrorInvalidValue, "the architecture '" + name +
                                                    "' is not emulated (there are " +
                                                    architectureNames() + ")");
    devices.push_back(device);
  }
  if (devices.empty() || devices.size() > 64)
    throw EmulatorError(hipErrorInvalidValue,
                        "expected between 1 and 64 architectures, got '" + list + "'");
  return devices;
}

void Runtime::initialise() {
  if (initialised_)
    return;
  const std::string arch =
      environmentString("FLYDSL_GPU_ARCH", environmentString("ARCH", "gfx942"));
  try {
    devices_ = parse(environmentString("FLYDSL_EMU_DEVICES", arch));
  } catch (const EmulatorError &error) {
    sayOnce(error.what());
    throw;
  }
  options_.seed = environmentNumber("FLYDSL_EMU_SEED", 0);
  options_.instructionLimit =
      environmentNumber("FLYDSL_EMU_MAX_INSTRUCTIONS", kDefaultInstructionLimit);
  options_.seconds = environmentNumber("FLYDSL_EMU_MAX_SECONDS", kDefaultSeconds);
  options_.readGranularity =
      requireGranularity(environmentNumber("FLYDSL_EMU_READ_GRANULARITY", 1));
  const uint64_t threads =
      environmentNumber("FLYDSL_EMU_THREADS", std::max(1U, std::thread::hardware_concurrency()));
  options_.threads = static_cast<unsigned>(std::clamp<uint64_t>(threads, 1, 256));
  sanitizers_ = sanitizer::parse(environmentString("FLYDSL_EMU_SANITIZE", "none"));
  saveFolder_ = environmentString("FLYDSL_EMU_SAVE", "");
  checksCode_ = environmentNumber("FLYDSL_EMU_CHECK_CODE", 0) != 0;
  reportOptions_.stopAtFirst = environmentNumber("FLYDSL_EMU_STOP_AT_FIRST", 0) != 0;
  reportOptions_.mostReports = static_cast<uint32_t>(
      std::clamp<uint64_t>(environmentNumber("FLYDSL_EMU_MAX_REPORTS", 100), 1, 100000));
  profiling_ =
      static_cast<Profiling>(std::min<uint64_t>(environmentNumber("FLYDSL_EMU_PROFILE", 0), 2));
  initialised_ = true;
}

const std::vector<Device> &Runtime::devices() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return devices_;
}

Device &Runtime::device(int ordinal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices_.size())
    throw EmulatorError(hipErrorInvalidDevice, "device " + std::to_string(ordinal) +
                                                   ": there are " +
                                                   std::to_string(devices_.size()));
  return devices_[static_cast<size_t>(ordinal)];
}

void Runtime::setDevices(const std::string &list) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Device> devices = parse(list);
  initialise();
  // Devices that stay as they are may have live objects.
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (i < devices.size() && devices[i].architecture == devices_[i].architecture)
      continue;
    const int ordinal = static_cast<int>(i);
    const bool modules = std::any_of(modules_.begin(), modules_.end(), [&](const Module *module) {
      return module->device == ordinal;
    });
    if (modules || MemoryMap::instance().allocated(ordinal) != 0)
      throw EmulatorError(hipErrorNotReady, "device " + std::to_string(i) + " (" +
                                                devices_[i].architecture->name + ") still has " +
                                                (modules ? "modules" : "allocations"));
  }
  devices_ = std::move(devices);
  currentDevice = 0;
  forgetDeviceFailure(-1);
}

int Runtime::current() {
  device(currentDevice); // the list may have become shorter
  return currentDevice;
}

void Runtime::setCurrent(int ordinal) {
  device(ordinal);
  currentDevice = ordinal;
}

/// A __managed__ variable `x` is a pointer of that name, and its contents are `x.managed`: memory
/// that the host can reach as it is.
static void linkManagedVariables(const CodeObject &object) {
  const std::string suffix = ".managed";
  for (const auto &[name, contents] : object.symbols()) {
    if (name.size() <= suffix.size() ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    const Symbol *pointer = object.findSymbol(name.substr(0, name.size() - suffix.size()));
    const uint8_t *memory = object.base() + contents.address;
    if (pointer != nullptr && !pointer->isFunction && pointer->size == sizeof memory)
      std::memcpy(object.base() + pointer->address, static_cast<const void *>(&memory),
                  sizeof memory);
  }
}

Module *Runtime::load(const void *image, size_t size) {
  const int ordinal = current();
  const Architecture &architecture = *device(ordinal).architecture;
  auto module = std::make_unique<Module>();
  module->device = ordinal;
  try {
    const ImageView view = findImage(image, size, architecture.name);
    module->object = std::make_unique<CodeObject>(view.data(), view.size(), architecture.name);
  } catch (const EmulatorError &error) {
    if (error.code() == hipErrorNoBinaryForGpu)
      sayOnce(error.what());
    throw;
  }
  module->program = std::make_unique<Program>(*module->object, architecture.name);
  if (checksCode())
    if (const std::string found = checkText(*module->program); !found.empty())
      throw EmulatorError(hipErrorInvalidImage, "the code was checked (FLYDSL_EMU_CHECK_CODE), and "
                                                "some path through it goes wrong:\n" +
                                                    found);
  linkManagedVariables(*module->object);
  MemoryRange range;
  range.begin = reinterpret_cast<uint64_t>(module->object->base());
  range.end = range.begin + module->object->memorySize();
  range.kind = MemoryKind::CodeObject;
  range.device = ordinal;
  range.name = "code object";
  range.writable = false;
  MemoryMap::instance().add(range);
  range.writable = true;
  range.name = "variables of a code object";
  const uint64_t base = range.begin;
  for (const auto &[begin, end] : module->object->writable()) {
    range.begin = base + begin;
    range.end = base + end;
    MemoryMap::instance().add(range);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return *modules_.insert(module.release()).first;
}

void Runtime::unload(Module *module) {
  const auto alone = changeMemory();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (modules_.erase(module) == 0)
      throw EmulatorError(hipErrorInvalidHandle, "no module that is loaded");
  }
  const auto base = reinterpret_cast<uint64_t>(module->object->base());
  for (const auto &[begin, end] : module->object->writable())
    MemoryMap::instance().remove(base + begin, MemoryKind::CodeObject);
  MemoryMap::instance().remove(base, MemoryKind::CodeObject);
  delete module;
}

bool Runtime::isModule(const Module *module) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return modules_.count(const_cast<Module *>(module)) != 0;
}

LaunchOptions Runtime::launchOptions() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return options_;
}

void Runtime::setSeed(uint64_t seed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  options_.seed = seed;
}

void Runtime::setInstructionLimit(uint64_t limit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  options_.instructionLimit = limit == 0 ? kDefaultInstructionLimit : limit;
}

void Runtime::setTimeLimit(uint64_t seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  options_.seconds = seconds;
}

void Runtime::setReadGranularity(uint64_t bytes) {
  const uint32_t granularity = requireGranularity(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  options_.readGranularity = granularity;
}

unsigned Runtime::sanitizers() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return sanitizers_;
}

void Runtime::setSanitizers(unsigned sanitizers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  sanitizers_ = sanitizers;
}

ReportOptions Runtime::reportOptions() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return reportOptions_;
}

void Runtime::setReportOptions(const ReportOptions &options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  reportOptions_ = options;
}

bool Runtime::checksCode() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return checksCode_;
}

void Runtime::setChecksCode(bool checks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  checksCode_ = checks;
}

std::string Runtime::saveFolder() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return saveFolder_;
}

void Runtime::setSaveFolder(std::string folder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  saveFolder_ = std::move(folder);
}

Profiling Runtime::profiling() {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  return profiling_;
}

std::shared_ptr<const PredictionOptions> Runtime::prediction() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return prediction_;
}

void Runtime::setPrediction(std::shared_ptr<const PredictionOptions> options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  prediction_ = std::move(options);
}

void Runtime::setProfiling(Profiling profiling) {
  const std::lock_guard<std::mutex> lock(mutex_);
  initialise();
  profiling_ = profiling;
}

ThreadErrors &threadErrors() {
  thread_local ThreadErrors errors;
  return errors;
}

/// Clients show the code of a failure at most: FLYDSL_EMU_LOG=1 prints the text of each.
static bool logsFailures() noexcept {
  try {
    static const bool logs = environmentNumber("FLYDSL_EMU_LOG", 0) != 0;
    return logs;
  } catch (const EmulatorError &) {
    return true; // no number: whoever sets it wants to see something
  }
}

hipError_t fail(hipError_t code, std::string text) {
  if (code != hipErrorNotReady && logsFailures())
    std::fprintf(stderr, "fly-emulator: %s\n", text.c_str());
  threadErrors().text = std::move(text);
  threadErrors().last = code;
  return code;
}

void sayOnce(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(text).second)
    std::fprintf(stderr, "fly-emulator: %s\n", text.c_str());
}

hipError_t notSupported(const char *function) {
  const std::string text = std::string(function) + " is not offered by the emulator";
  sayOnce(text);
  return fail(hipErrorNotSupported, text);
}

} // namespace flyemu
