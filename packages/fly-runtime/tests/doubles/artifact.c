/* SPDX-License-Identifier: Apache-2.0
 *
 * A hand-written artifact: what the compiler emits, with a host function that copies its slots
 * where a test can see them and then launches what the test asks for. make_doubles.py defines the
 * macros.
 */
/* CODE: files in EMBED, for CODE_OBJECTS that are no texts. */
#include "embed.h"
#include "flydsl/runtime.h"

#include <string.h>

#ifndef ABI
#define ABI FLYDSL_ARTIFACT_ABI
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#ifdef NO_NOTE_SECTION
static const char note[] = NOTE;
#else
__attribute__((section(".flydsl.note"), used)) static const char note[] = NOTE;
#endif

static const char *const kernel_names[] = {KERNEL_NAMES NULL};
static const FlyCodeObject code_objects[] = {CODE_OBJECTS{NULL, NULL, 0}};
static const unsigned slot_bytes[] = {SLOT_BYTES 0};
enum { SLOTS = sizeof slot_bytes / sizeof *slot_bytes - 1 };

/* What the host function saw: a row for each slot, and one more, since there may be none. */
_Thread_local unsigned char seen[SLOTS + 1][512];
const unsigned char *seen_slot(unsigned slot) { return seen[slot]; }

/* What it launches. */
struct {
  int32_t launches;
  uint32_t kernel;
  int64_t grid[3], block[3], cluster[3];
  int64_t shared;
  int32_t stream_slot; /* -1: the default stream */
  int32_t status;      /* returned without a launch, when not 0 */
} request = {1, 0, {1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, -1, 0};

static int32_t host(void **slots);
static void *state;
const FlyArtifact flydsl_artifact = {ABI,
                                     sizeof code_objects / sizeof *code_objects - 1,
                                     sizeof kernel_names / sizeof *kernel_names - 1,
                                     0,
                                     code_objects,
                                     kernel_names,
                                     note,
                                     sizeof note - 1,
                                     host,
                                     &state};

#ifdef TENSOR_MAP
/* A kernel that takes a tensor map (of 8 x 8 boxes of the 64 x 32 floats of slot 1) in its place.
 */
static _Alignas(64) unsigned char tensor_map[128];
uint32_t box_rows = 8;
static int32_t encode(void **slots) {
  const uint64_t dims[] = {32, 64}, strides[] = {32 * 4};
  const uint32_t box[] = {8, box_rows}, steps[] = {1, 1};
  const FlyTensorMap map = {7, 2, *(void **)slots[1], dims, strides, box, steps, 0, 0, 0, 0};
  const int32_t status = flydsl_tensor_map(&flydsl_artifact, tensor_map, &map);
  slots[1] = tensor_map;
  return status;
}
#endif

static int32_t host(void **slots) {
  for (unsigned slot = 0; slot < SLOTS; ++slot)
    memcpy(seen[slot], slots[slot], slot_bytes[slot]);
  if (request.status != 0)
    return request.status;
#ifdef TENSOR_MAP
  const int32_t encoded = encode(slots);
  if (encoded != FLYDSL_OK)
    return encoded;
#endif
  void *stream = request.stream_slot < 0 ? NULL : *(void **)slots[request.stream_slot];
  for (int32_t launch = 0; launch < request.launches; ++launch) {
    int32_t status = flydsl_launch(&flydsl_artifact, request.kernel, request.grid, request.block,
                                   request.cluster, request.shared, stream, slots);
    if (status != FLYDSL_OK)
      return status;
  }
  return FLYDSL_OK;
}

int PASTE(__tvm_ffi_, ENTRY)(void *self, const void *args, int32_t num_args, void *result) {
  (void)self;
  return flydsl_call_tvm_ffi(&flydsl_artifact, args, num_args, result);
}

int32_t ENTRY(void **slots) { return flydsl_call_slots(&flydsl_artifact, slots); }
