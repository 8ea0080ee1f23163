// SPDX-License-Identifier: Apache-2.0
//
// The functions of fly_emulator/extensions.h.
#include "fly_emulator/extensions.h"
#include "check/code_check.h"
#include "device/memory_map.h"
#include "hip/device_failure.h"
#include "hip/inspection.h"
#include "hip/runtime.h"
#include "predict/prediction_log.h"
#include "sanitize/report_log.h"

using namespace flyemu;

namespace {
/// Keep a text for the caller; null if making it failed.
template <typename F> const char *answer(F &&body) {
  const hipError_t code = guarded([&] { threadErrors().answer = body(); });
  return code == hipSuccess ? threadErrors().answer.c_str() : nullptr;
}
} // namespace

FLYEMU_API const char *flyemu_version() { return FLYEMU_VERSION; }

namespace {
void registerRange(const char *function, const void *ptr, size_t bytes, int readOnly,
                   const char *name, std::shared_ptr<const TensorLayout> tensor) {
  if (ptr == nullptr && bytes != 0)
    throw EmulatorError(hipErrorInvalidValue, std::string(function) + ": null pointer");
  MemoryRange range;
  range.begin = reinterpret_cast<uint64_t>(ptr);
  range.end = range.begin + bytes;
  if (range.end < range.begin)
    throw EmulatorError(hipErrorInvalidValue, std::string(function) + ": the range wraps around");
  range.writable = readOnly == 0;
  range.name = name != nullptr ? name : "";
  range.tensor = std::move(tensor);
  MemoryMap::instance().add(std::move(range));
}
} // namespace

FLYEMU_API int flyemu_register_memory(const void *ptr, size_t bytes, int read_only,
                                      const char *name) {
  return guarded(
      [&] { registerRange("flyemu_register_memory", ptr, bytes, read_only, name, nullptr); });
}

FLYEMU_API int flyemu_unregister_memory(const void *ptr) {
  return guarded([&] {
    require(MemoryMap::instance().remove(reinterpret_cast<uint64_t>(ptr), MemoryKind::Registered),
            hipErrorInvalidValue, "flyemu_unregister_memory: no registration begins there");
  });
}

FLYEMU_API const char *flyemu_last_error() { return threadErrors().text.c_str(); }

FLYEMU_API int flyemu_set_devices(const char *comma_separated) {
  return guarded([&] {
    require(comma_separated != nullptr, hipErrorInvalidValue, "flyemu_set_devices: null pointer");
    Runtime::instance().setDevices(comma_separated);
  });
}

FLYEMU_API int flyemu_set_seed(unsigned long long seed) {
  return guarded([&] { Runtime::instance().setSeed(seed); });
}

FLYEMU_API unsigned long long flyemu_seed() {
  uint64_t seed = 0;
  guarded([&] { seed = Runtime::instance().launchOptions().seed; });
  return seed;
}

FLYEMU_API int flyemu_set_save_folder(const char *folder) {
  return guarded([&] { Runtime::instance().setSaveFolder(folder != nullptr ? folder : ""); });
}

FLYEMU_API const char *flyemu_save_folder() {
  return answer([] { return Runtime::instance().saveFolder(); });
}

FLYEMU_API int flyemu_module_memory(void *module, void **base, size_t *bytes, size_t *text_begin,
                                    size_t *text_end) {
  return guarded([&] {
    const auto *loaded = static_cast<const Module *>(module);
    require(Runtime::instance().isModule(loaded) && base != nullptr && bytes != nullptr &&
                text_begin != nullptr && text_end != nullptr,
            hipErrorInvalidValue,
            "flyemu_module_memory: null pointer, or no module that is loaded");
    *base = loaded->object->base();
    *bytes = loaded->object->memorySize();
    *text_begin = loaded->object->textBegin();
    *text_end = loaded->object->textEnd();
  });
}

FLYEMU_API int flyemu_set_instruction_limit(unsigned long long limit) {
  return guarded([&] { Runtime::instance().setInstructionLimit(limit); });
}

FLYEMU_API int flyemu_set_time_limit(unsigned long long seconds) {
  return guarded([&] { Runtime::instance().setTimeLimit(seconds); });
}

FLYEMU_API int flyemu_set_read_granularity(unsigned bytes) {
  return guarded([&] { Runtime::instance().setReadGranularity(bytes); });
}

FLYEMU_API void flyemu_forget_failures() { forgetDeviceFailure(-1); }

FLYEMU_API int flyemu_set_sanitizers(const char *comma_separated) {
  return guarded([&] {
    require(comma_separated != nullptr, hipErrorInvalidValue,
            "flyemu_set_sanitizers: null pointer");
    Runtime::instance().setSanitizers(sanitizer::parse(comma_separated));
  });
}

FLYEMU_API int flyemu_set_report_options(int stop_at_first, unsigned most_reports, int raises) {
  return guarded([&] {
    require(most_reports != 0, hipErrorInvalidValue,
            "flyemu_set_report_options: at least one report has to be kept");
    Runtime::instance().setReportOptions({stop_at_first != 0, most_reports, raises != 0});
  });
}

FLYEMU_API int flyemu_report_options(int *stop_at_first, unsigned *most_reports, int *raises) {
  return guarded([&] {
    require(stop_at_first != nullptr && most_reports != nullptr && raises != nullptr,
            hipErrorInvalidValue, "flyemu_report_options: null pointer");
    const ReportOptions options = Runtime::instance().reportOptions();
    *stop_at_first = options.stopAtFirst ? 1 : 0;
    *most_reports = options.mostReports;
    *raises = options.raises ? 1 : 0;
  });
}

FLYEMU_API unsigned long long flyemu_report_count() { return ReportLog::instance().count(); }

FLYEMU_API const char *flyemu_reports_json_after(unsigned long long number) {
  return answer([&] { return ReportLog::instance().jsonAfter(number); });
}

FLYEMU_API int flyemu_register_tensor(const void *low, size_t bytes, int read_only,
                                      const char *name, const void *data, unsigned item_bytes,
                                      int rank, const long long *shape,
                                      const long long *byte_strides) {
  return guarded([&] {
    require(rank >= 0 && (rank == 0 || (shape != nullptr && byte_strides != nullptr)),
            hipErrorInvalidValue, "flyemu_register_tensor: no shape or no strides");
    auto tensor = std::make_shared<TensorLayout>();
    tensor->data = reinterpret_cast<uint64_t>(data);
    tensor->itemBytes = item_bytes;
    tensor->shape.assign(shape, shape + rank);
    tensor->strides.assign(byte_strides, byte_strides + rank);
    tensor->findGaps();
    registerRange("flyemu_register_tensor", low, bytes, read_only, name, std::move(tensor));
  });
}

FLYEMU_API int flyemu_profiling() {
  int level = 0;
  guarded([&] { level = static_cast<int>(Runtime::instance().profiling()); });
  return level;
}

FLYEMU_API int flyemu_set_profiling(int enabled) {
  return guarded([&] {
    require(enabled >= 0 && enabled <= 2, hipErrorInvalidValue,
            "flyemu_set_profiling: expected 0 (off), 1 (counters) or 2 (counters and trace)");
    Runtime::instance().setProfiling(static_cast<Profiling>(enabled));
  });
}

FLYEMU_API const char *flyemu_reports_json() { return threadErrors().reports.c_str(); }
FLYEMU_API const char *flyemu_fidelity_json() { return threadErrors().fidelity.c_str(); }

FLYEMU_API const char *flyemu_profile_json() {
  return answer([] {
    const uint64_t number = threadErrors().profile;
    const auto profile = ProfileLog::instance().find(number);
    return profile != nullptr ? profile->json(number) : std::string("{}");
  });
}

FLYEMU_API unsigned long long flyemu_profile_count() { return ProfileLog::instance().latest(); }

FLYEMU_API const char *flyemu_profiles_json(unsigned long long after) {
  return answer([&] { return ProfileLog::instance().jsonAfter(after); });
}

FLYEMU_API const char *flyemu_trace_json(unsigned long long launch) {
  return answer([&] {
    const auto profile = ProfileLog::instance().find(launch == 0 ? threadErrors().profile : launch);
    require(profile != nullptr, hipErrorInvalidValue,
            "flyemu_trace_json: no profile of that launch is kept");
    require(!profile->trace.empty(), hipErrorInvalidValue,
            profile->traceForgotten
                ? "flyemu_trace_json: only the last four launches keep their trace"
                : "flyemu_trace_json: the launch was profiled without a trace "
                  "(flyemu_set_profiling(2) or FLYDSL_EMU_PROFILE=2 records one)");
    return profile->trace.json();
  });
}

FLYEMU_API const char *flyemu_sanitizers() {
  return answer([] { return sanitizer::names(Runtime::instance().sanitizers()); });
}

FLYEMU_API const char *flyemu_disassemble(const void *image, size_t bytes, const char *arch) {
  return answer([&] { return disassembleImage(image, bytes, arch != nullptr ? arch : ""); });
}

FLYEMU_API int flyemu_set_code_check(int enabled) {
  return guarded([&] { Runtime::instance().setChecksCode(enabled != 0); });
}

FLYEMU_API const char *flyemu_check_json(const void *image, size_t bytes, const char *arch) {
  return answer([&] { return checkImage(image, bytes, arch != nullptr ? arch : ""); });
}

FLYEMU_API const char *flyemu_code_object_json(const void *image, size_t bytes) {
  return answer([&] { return describeImage(image, bytes); });
}

FLYEMU_API const char *flyemu_opcodes_json(const char *arch) {
  return answer([&] { return describeOpcodes(arch != nullptr ? arch : ""); });
}

FLYEMU_API int flyemu_set_prediction(const char *device, int sampled, int warm, int trace) {
  return guarded([&] {
    if (device == nullptr) {
      Runtime::instance().setPrediction(nullptr);
      return;
    }
    auto options = std::make_shared<PredictionOptions>();
    if (*device != '\0') {
      const DeviceModel *model = findDeviceModel(device);
      if (model == nullptr)
        throw EmulatorError(hipErrorInvalidValue, std::string("there is no model of the device ") +
                                                      device +
                                                      "; there are: " + deviceModelNames());
      options->device = *model;
    }
    options->sampled = sampled != 0;
    options->warm = warm != 0;
    options->trace = trace != 0;
    Runtime::instance().setPrediction(options);
  });
}

FLYEMU_API int flyemu_set_prediction_parameter(const char *name, double value) {
  return guarded([&] {
    const auto present = Runtime::instance().prediction();
    require(present != nullptr && present->device.name != nullptr && name != nullptr,
            hipErrorInvalidValue,
            "flyemu_set_prediction_parameter: no prediction for a named device is switched on");
    auto options = std::make_shared<PredictionOptions>(*present);
    require(setParameter(options->device, name, value), hipErrorInvalidValue,
            "flyemu_set_prediction_parameter: no parameter of that name");
    Runtime::instance().setPrediction(options);
  });
}

FLYEMU_API const char *flyemu_prediction_json() { return threadErrors().prediction.c_str(); }

FLYEMU_API unsigned long long flyemu_prediction_count() {
  return PredictionLog::instance().count();
}

FLYEMU_API const char *flyemu_predictions_json(unsigned long long after) {
  return answer([&] { return PredictionLog::instance().jsonAfter(after); });
}

FLYEMU_API const char *flyemu_prediction_trace_json(unsigned long long number) {
  return answer([&] {
    const auto trace =
        PredictionLog::instance().trace(number == 0 ? threadErrors().predictionNumber : number);
    require(
        trace != nullptr, hipErrorInvalidValue,
        "flyemu_prediction_trace_json: that launch was predicted without a trace, or is not one "
        "of the last four with one");
    return trace->json();
  });
}

FLYEMU_API const char *flyemu_device_models_json() {
  return answer([] { return deviceModelsJson(); });
}

FLYEMU_API const char *flyemu_predict_again(void *module) {
  return answer([&] {
    const auto *loaded = static_cast<const Module *>(module);
    const auto options = Runtime::instance().prediction();
    require(Runtime::instance().isModule(static_cast<Module *>(module)) &&
                loaded->predictor != nullptr && options != nullptr,
            hipErrorInvalidValue, "flyemu_predict_again: that module has no predicted launch");
    loaded->predictor->setDevice(options->device);
    return loaded->predictor->predict().json();
  });
}
