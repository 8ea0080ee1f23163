/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface between a compiled artifact and fly-runtime.
 *
 * An artifact is one ELF shared object (DT_NEEDED: libflydsl_runtime.so.0). For an entry point NAME
 * it exports
 *
 *   flydsl_artifact        the FlyArtifact below: code objects, kernel names, JSON note, host
 * function
 *   __tvm_ffi_NAME         the tvm-ffi calling convention; forwards to flydsl_call_tvm_ffi
 *   NAME                   int32_t NAME(void **slots): the plain C convention; forwards to
 * flydsl_call_slots
 *
 * and it reaches the device only through the functions declared here. Nothing in it depends on a
 * Python version, on MLIR or on LLVM.
 */
#ifndef FLYDSL_RUNTIME_H
#define FLYDSL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLYDSL_ARTIFACT_ABI 1
#define FLYDSL_RUNTIME_SONAME "libflydsl_runtime.so.0"

#if defined(__GNUC__)
#define FLYDSL_API __attribute__((visibility("default")))
#else
#define FLYDSL_API
#endif

/* The code for one architecture: an AMD code object (an ELF file; "gfx942"), or for NVIDIA
 * ("sm_90a") machine code (an ELF file, too) or PTX, which the driver compiles when it is loaded.
 * The first one that a device can run is taken. */
typedef struct FlyCodeObject {
  const char *arch;
  const void *data;
  uint64_t size;
} FlyCodeObject;

typedef struct FlyArtifact {
  uint32_t abi_version; /* FLYDSL_ARTIFACT_ABI */
  uint32_t num_code_objects;
  uint32_t num_kernels;
  uint32_t reserved; /* 0 */
  const FlyCodeObject *code_objects;
  const char *const *kernel_names; /* indexed by flydsl_launch's kernel */
  const char *note;   /* JSON, NUL-terminated; also the whole of the ELF section ".flydsl.note" */
  uint64_t note_size; /* bytes without the NUL */
  /* The compiled body of the @jit function. Slot i points to the i-th host argument, in the order
   * of the note's "slots" (scalars by value, a tensor as its data pointer followed, when its layout
   * has dynamic leaves, by one packed little-endian buffer: dynamic extents as int32 in ascending
   * axis, then dynamic strides as int64 or int32; a stream as void *). Returns FLYDSL_OK or the
   * first failing status of a call below. */
  int32_t (*host)(void **slots);
  void **state; /* one word owned by the runtime, NULL when loaded */
} FlyArtifact;

/* The class of a failure. Whether the device was given any work before it failed is a question of
 * its own, which flydsl_last_error_launched answers: a call that failed is never repeated by the
 * runtime, and may be repeated by its caller only when nothing was launched. */
typedef enum FlyStatus {
  FLYDSL_OK = 0,
  /* Wrong kind, dtype or number of arguments: Python TypeError. Nothing was launched. */
  FLYDSL_ERROR_TYPE = 1,
  /* Wrong rank, extent, stride, alignment, device, grid, block or LDS, or an assertion of the host
   * function: Python ValueError. */
  FLYDSL_ERROR_VALUE = 2,
  /* No device, no code for it, a library that lacks a function or fails: Python DeviceError.
   * Nothing was launched. */
  FLYDSL_ERROR_RUNTIME = 3,
  /* Memory, of the host or of a device, or threads ran out: Python OutOfMemoryError. */
  FLYDSL_ERROR_MEMORY = 4,
  /* The device failed at what it was given, an assertion of a kernel among that: Python
   * LaunchError. What the kernels of the call write may hold anything. */
  FLYDSL_ERROR_LAUNCH = 5,
} FlyStatus;

/* Launches kernel number `kernel` of the artifact on the calling thread's current device. params[i]
 * points to the i-th kernel argument. Block and grid extents are checked against the device's
 * limits; an empty grid launches nothing. shared_bytes is dynamic LDS; on CUDA, what the note's
 * lds_bytes has beyond what the code itself reserves is added to it. cluster may be NULL; only CUDA
 * devices launch clusters of more than one workgroup. */
FLYDSL_API int32_t flydsl_launch(const FlyArtifact *artifact, uint32_t kernel,
                                 const int64_t grid[3], const int64_t block[3],
                                 const int64_t cluster[3], int64_t shared_bytes, void *stream,
                                 void **params);

/* What Hopper's copy engine is told of a tensor (CUtensorMap, in the words of the CUDA driver's
 * cuTensorMapEncodeTiled, which has the numbers of data_type, interleave, swizzle, l2_promotion and
 * fill). The contiguous axis comes first; byte_strides has rank - 1 elements, the other arrays
 * have rank. */
typedef struct FlyTensorMap {
  int32_t data_type;
  uint32_t rank; /* 1 to 5 */
  void *address;
  const uint64_t *dims;
  const uint64_t *byte_strides;
  const uint32_t *box;
  const uint32_t *element_strides;
  int32_t interleave;
  int32_t swizzle;
  int32_t l2_promotion;
  int32_t fill;
} FlyTensorMap;

/* Writes the 128 bytes of a tensor map to `map`, which is a multiple of 64, for a kernel that takes
 * them by value. Fails with FLYDSL_ERROR_VALUE when the driver refuses the tensor, and with
 * FLYDSL_ERROR_RUNTIME on a device that is not CUDA's. */
FLYDSL_API int32_t flydsl_tensor_map(const FlyArtifact *artifact, void *map,
                                     const FlyTensorMap *tensor);

/* Prints message number `message` (from 1) of the artifact's note with the values of a record, for
 * host functions that print. The message of an assertion becomes the text of a FLYDSL_ERROR_VALUE.
 */
FLYDSL_API int32_t flydsl_print(const FlyArtifact *artifact, uint32_t message,
                                const uint32_t *words);

/* Calls the artifact with arguments that are already in slots, unchecked except for NULL. */
FLYDSL_API int32_t flydsl_call_slots(const FlyArtifact *artifact, void **slots);

/* Calls the artifact with tvm-ffi arguments: checks number, kind, dtype, rank, static extents and
 * strides, divisibility, alignment, writability and device of each one against the note, fills the
 * slots and calls the host function. On failure sets tvm-ffi's error (kind TypeError, ValueError,
 * flydsl.DeviceError, flydsl.OutOfMemoryError or flydsl.LaunchError; Python sees RuntimeError for
 * the last three when flydsl.runtime is not loaded) and returns -1. args is const TVMFFIAny *,
 * result is TVMFFIAny *. */
FLYDSL_API int flydsl_call_tvm_ffi(const FlyArtifact *artifact, const void *args, int32_t num_args,
                                   void *result);

/* Checks an artifact's ABI version, table and note without a device or a call: what a loader does
 * first. */
FLYDSL_API int32_t flydsl_artifact_check(const FlyArtifact *artifact);

/* Loads the artifact's code object for a device (-1: the calling thread's current one) ahead of the
 * first launch, and gives HIP's or CUDA's handle of the module in *module (which may be NULL). */
FLYDSL_API int32_t flydsl_load_module(const FlyArtifact *artifact, int32_t device, void **module);

/* Begins, in a thread of the library's, to load the artifact's code object on the calling thread's
 * current CUDA device, where the driver compiles PTX: the first launch waits for less. With NULL
 * the driver loads its compiler, once in a process. Nothing happens where no device library has
 * been used yet, where the thread has no CUDA context, and on devices of other vendors. What fails
 * in the thread is not reported: the launch does it again, and is. */
FLYDSL_API int32_t flydsl_load_ahead(const FlyArtifact *artifact);

/* The same for PTX of which an artifact is yet to be made: the artifact that holds it, byte for
 * byte, takes the module when it is loaded on that device. So the driver compiles while the
 * artifact is written. Nothing happens either where the device cannot run code for `architecture`
 * ("sm_90a"). size does not count a NUL at the end. */
FLYDSL_API int32_t flydsl_load_ptx_ahead(const char *architecture, const char *ptx, uint64_t size);

/* Waits for those threads. The process must not end while one of them is in the driver. */
FLYDSL_API void flydsl_finish_loading(void);

/* How many workgroups of `threads` threads and `shared_bytes` of dynamic LDS of a kernel a compute
 * unit of the current device holds at a time. */
FLYDSL_API int32_t flydsl_max_active_blocks(const FlyArtifact *artifact, uint32_t kernel,
                                            int64_t threads, int64_t shared_bytes, int32_t *blocks);

/* The text of the calling thread's last failure; never NULL. Valid until the thread's next call. */
FLYDSL_API const char *flydsl_last_error(void);

/* Whether the call that failed last on this thread had given the device any work: 1 or 0. */
FLYDSL_API int32_t flydsl_last_error_launched(void);

/* The argument, from 0, that the call which failed last on this thread refused; -1 for none. */
FLYDSL_API int32_t flydsl_last_error_argument(void);

/* "0.1.0"; static storage. */
FLYDSL_API const char *flydsl_version(void);

/* ---- Devices. The library that serves them (HIP's, CUDA's driver, or the emulator's) is chosen at
 * the first use, by FLYDSL_DEVICE, FLYDSL_HIP_LIBRARY and FLYDSL_CUDA_LIBRARY, else by searching;
 * see docs/runtime.md. On CUDA everything happens in the primary context of a device, which
 * frameworks share. ---- */

/* Where the emulator's library is, for callers that know; NULL to forget. Takes effect at the next
 * search. */
FLYDSL_API int32_t flydsl_set_emulator_library(const char *path);

/* The architectures that the emulator is to present, one device each ("gfx942,gfx950"), when it is
 * chosen later; NULL or "": as the environment says. */
FLYDSL_API int32_t flydsl_set_emulated_devices(const char *architectures);

/* The number of devices, or the calling thread's current one. The first fails when there is none,
 * with every place that was searched in the error's text. */
FLYDSL_API int32_t flydsl_device_count(int32_t *count);
FLYDSL_API int32_t flydsl_get_device(int32_t *device);
FLYDSL_API int32_t flydsl_set_device(int32_t device);

/* The library in use, how it was found, and its devices, as a JSON object in *json (valid until the
 * thread's next call): {"library": path or null, "kind": "hip", "cuda" or "emulator", "version":
 * text or null, "attempts": [{"step", "place", "outcome"}], "devices": [{"index", "name", "arch",
 * "warp_size", "compute_units", "memory_bytes", "lds_bytes", "max_threads"}]}. When nothing is
 * found, library is null and the call succeeds. */
FLYDSL_API int32_t flydsl_describe(const char **json);

/* Device memory for programs that have no framework to get it from: current device, `kind` is found
 * from the addresses, `stream` NULL is the default stream. */
FLYDSL_API int32_t flydsl_malloc(void **address, uint64_t bytes);
FLYDSL_API int32_t flydsl_free(void *address);
FLYDSL_API int32_t flydsl_copy(void *destination, const void *source, uint64_t bytes);
FLYDSL_API int32_t flydsl_synchronize(void *stream);
/* The same for everything that the current device was given to do. */
FLYDSL_API int32_t flydsl_synchronize_device(void);

/* Where the text goes that kernels print (not NUL-terminated); NULL: to standard output. A call
 * whose kernels print or assert waits for them and hands their text over before it returns; it
 * fails when an assertion failed. Under stream capture that happens at the next call, or at
 * flydsl_synchronize. */
FLYDSL_API void flydsl_set_output(void (*function)(const char *text, uint64_t bytes));

/* `fork` waits until other threads have left the library, a minute at most, and keeps them out
 * meanwhile. A language whose threads need a lock that the forking thread holds in `fork` calls
 * flydsl_fork_begin before it takes that lock, from the thread that will fork: it waits in place of
 * `fork`, so many milliseconds at most. In the parent flydsl_fork_end lets the others in again; a
 * child has nothing to end. Threads for which `let_in` (or NULL) returns other than 0 are let in
 * before the fork, without waiting: those that hold that lock. */
FLYDSL_API void flydsl_fork_begin(uint32_t milliseconds, int (*let_in)(void));
FLYDSL_API void flydsl_fork_end(void);

#ifdef __cplusplus
}
#endif
#endif /* FLYDSL_RUNTIME_H */
