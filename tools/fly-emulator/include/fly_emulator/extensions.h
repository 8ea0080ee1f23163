// SPDX-License-Identifier: Apache-2.0
//
// What the emulator's library offers beyond the HIP C API. A client looks these symbols up with
// dlsym; where they are absent, it talks to real hardware.
#ifndef FLY_EMULATOR_EXTENSIONS_H
#define FLY_EMULATOR_EXTENSIONS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// All functions that return int return a hipError_t (0 is hipSuccess).

// The version of the emulator, "major.minor.patch". Never null; static storage.
const char *flyemu_version(void);

// Let kernels access `bytes` bytes of host memory at `ptr`, in place. Registrations are counted:
// registering the same (ptr, bytes) again needs one more unregister. Ranges may overlap. `name`
// (copied, may be null) stands for the range in reports. A range is writable if any registration
// that covers it is.
int flyemu_register_memory(const void *ptr, size_t bytes, int read_only, const char *name);

// The same for a tensor: what reports need to name elements, and the unit of alignment. `low` and
// `bytes` are the memory between its lowest and its highest element, `data` is element (0, 0, ...),
// `item_bytes` an element's size (0 if it is no whole number), `byte_strides` may be negative.
int flyemu_register_tensor(const void *low, size_t bytes, int read_only, const char *name,
                           const void *data, unsigned item_bytes, int rank, const long long *shape,
                           const long long *byte_strides);

// Undo the latest registration that starts at `ptr`. hipErrorInvalidValue if there is none.
int flyemu_unregister_memory(const void *ptr);

// The full report of this thread's last failing call; the empty string if there is none.
// Valid until the thread's next call into the library.
const char *flyemu_last_error(void);

// Replace the devices by one per architecture of a comma-separated list ("gfx942,gfx950").
// hipErrorInvalidValue for an unknown architecture; hipErrorNotReady while modules or allocations
// of the present devices are alive.
int flyemu_set_devices(const char *comma_separated);

// The sanitizers of later launches: a comma-separated list of memory, race, init, wait, barrier,
// hazard, lint; or "all" (all but lint), or "none". Overrides FLYDSL_EMU_SANITIZE.
int flyemu_set_sanitizers(const char *comma_separated);

// What is switched on, as such a list ("" for nothing). Valid until the thread's next call.
const char *flyemu_sanitizers(void);

// How later launches report: whether they end at the first finding, how many different findings are
// kept (100), and whether findings make them fail (they do). Overrides FLYDSL_EMU_STOP_AT_FIRST and
// FLYDSL_EMU_MAX_REPORTS. The second function tells what is set.
int flyemu_set_report_options(int stop_at_first, unsigned most_reports, int raises);
int flyemu_report_options(int *stop_at_first, unsigned *most_reports, int *raises);

// The reports of the last launch on this thread, as a JSON array (empty array if clean).
const char *flyemu_reports_json(void);

// How many findings there were in this process, of all threads, and those after the first `number`
// as a JSON array (the last 10,000 are kept). Null on error.
unsigned long long flyemu_report_count(void);
const char *flyemu_reports_json_after(unsigned long long number);

// What later launches record: nothing (0), counters (1), counters and every wave's instructions
// over time (2). Overrides FLYDSL_EMU_PROFILE.
int flyemu_set_profiling(int enabled);
int flyemu_profiling(void);

// The profile of the last launch on this thread, as a JSON object ("{}" if it was not profiled).
const char *flyemu_profile_json(void);

// How many launches of this process were profiled, and the profiles of those after the first
// `after`, as a JSON array (of all threads; the last 1024 are kept). Null on error.
unsigned long long flyemu_profile_count(void);
const char *flyemu_profiles_json(unsigned long long after);

// The waves of a launch over time under the issue model, as trace events (Perfetto): one compute
// unit, cycles written as microseconds. `launch`: its "launch" in the profile; 0 for the last one
// of this thread. Null on error (no trace was recorded, or it is forgotten).
const char *flyemu_trace_json(unsigned long long launch);

// Later launches are predicted: the time that they would take on a device ("MI325X", or the best
// known one of an architecture; "": of the code's); null switches it off. `sampled`: execute only
// the workgroups that the model wants, so that the kernel's results are incomplete. `warm`: the
// data are in the Infinity Cache as far as they fit. `trace`: keep the waves over time. The second
// function changes a constant of the model (calibration).
int flyemu_set_prediction(const char *device, int sampled, int warm, int trace);
int flyemu_set_prediction_parameter(const char *name, double value);

// The prediction of the last launch on this thread, as a JSON object ("{}" if there is none), and
// that of the last predicted launch of a module's kernel again, with the constants of now.
const char *flyemu_prediction_json(void);
const char *flyemu_predict_again(void *module);

// How many launches of this process were predicted, and the predictions of those after the first
// `after`, as a JSON array (of all threads; the last 1024 are kept). Null on error.
unsigned long long flyemu_prediction_count(void);
const char *flyemu_predictions_json(unsigned long long after);

// The waves of a prediction's busiest compute unit over time, as trace events (Perfetto), cycles
// written as microseconds. `number`: of the prediction, from 1; 0 for the last one of this thread.
// Null on error (it has no trace, or it is not one of the last four with one).
const char *flyemu_prediction_trace_json(unsigned long long number);

// The devices that launches can be predicted for, by name: the architecture, the published facts
// (each with its source) and the fitted constants.
const char *flyemu_device_models_json(void);

// The seed that orders the waves of later launches. 0 is program order. Overrides FLYDSL_EMU_SEED.
int flyemu_set_seed(unsigned long long seed);
unsigned long long flyemu_seed(void);

// Save each later launch as one file of a folder, to be run again (`fly-emu replay`); null or "" to
// stop. Overrides FLYDSL_EMU_SAVE. The second function tells the folder.
int flyemu_set_save_folder(const char *folder);
const char *flyemu_save_folder(void);

// Where a module (hipModule_t) lies in memory, and where its code begins and ends in there: all
// else are its variables and constants.
int flyemu_module_memory(void *module, void **base, size_t *bytes, size_t *text_begin,
                         size_t *text_end);

// The most instructions one wave of later launches may execute. Overrides
// FLYDSL_EMU_MAX_INSTRUCTIONS.
int flyemu_set_instruction_limit(unsigned long long limit);

// The longest that a later launch may take, in seconds; 0 for no limit (300). Overrides
// FLYDSL_EMU_MAX_SECONDS.
int flyemu_set_time_limit(unsigned long long seconds);

// Kernels may read up to the next multiple of this many bytes beyond an allocation or a registered
// range, as hardware lets them: a power of two, 1 (the default) for the exact end, at most 4096.
// Overrides FLYDSL_EMU_READ_GRANULARITY.
int flyemu_set_read_granularity(unsigned bytes);

// A launch that failed (hipErrorLaunchFailure, hipErrorLaunchTimeOut) leaves its device failed, as
// on hardware: calls that wait for it or give it work fail alike until hipDeviceReset. A client
// that has told its user of the failure, and goes on, may forget it: of all devices.
void flyemu_forget_failures(void);

// What the last launch on this thread executed, by fidelity (exact, within a stated error,
// assumed), as a JSON object: opcodes, and under "model" modes, memory, waits, order and time.
const char *flyemu_fidelity_json(void);

// The disassembly of a code object with addresses and source lines, one instruction a line.
// The kernels and their resources, as JSON. Null on error (see flyemu_last_error). Both are valid
// until the thread's next call into the library.
const char *flyemu_disassemble(const void *image, size_t bytes, const char *arch);
const char *flyemu_code_object_json(const void *image, size_t bytes);

// What some path through the code of each kernel does wrong, without running it: registers used
// before their load has arrived, LDS accesses outstanding at barriers, wait states that are
// missing. As JSON; null on error. Valid until the thread's next call into the library.
const char *flyemu_check_json(const void *image, size_t bytes, const char *arch);

// Check code that way whenever it is loaded, and refuse it (hipErrorInvalidImage) with what was
// found. Overrides FLYDSL_EMU_CHECK_CODE.
int flyemu_set_code_check(int enabled);

// Every mnemonic of LLVM's AMDGPU target, with its class and fidelity or null where it isn't
// executed, as JSON. Null for an architecture that isn't emulated.
const char *flyemu_opcodes_json(const char *arch);

#ifdef __cplusplus
}
#endif
#endif
