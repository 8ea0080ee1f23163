/* SPDX-License-Identifier: Apache-2.0
 *
 * An artifact with real code objects, as the compiler would emit it for a vector addition whose
 * grid comes from a run-time n. make_doubles.py defines NOTE and the CODE_OBJECT list.
 */
#include "embed.h"
#include "flydsl/runtime.h"

__attribute__((section(".flydsl.note"), used)) static const char note[] = NOTE;

static const FlyCodeObject code_objects[] = {CODE_OBJECTS};
static const char *const kernel_names[] = {"vector_add_kernel_0"};

static int32_t host(void **slots);
static void *state;
const FlyArtifact flydsl_artifact = {FLYDSL_ARTIFACT_ABI,
                                     sizeof code_objects / sizeof *code_objects,
                                     1,
                                     0,
                                     code_objects,
                                     kernel_names,
                                     note,
                                     sizeof note - 1,
                                     host,
                                     &state};

/* Slots: a, its extent, b, its extent, c, its extent, n, the hidden stream. */
static int32_t host(void **slots) {
  const int32_t n = *(const int32_t *)slots[6];
  const int64_t block[3] = {64, 1, 1};
  const int64_t grid[3] = {((int64_t)n + block[0] - 1) / block[0], 1, 1};
  void *params[] = {slots[0], slots[2], slots[4], slots[6]};
  return flydsl_launch(&flydsl_artifact, 0, grid, block, NULL, 0, *(void **)slots[7], params);
}

int __tvm_ffi_vector_add(void *self, const void *args, int32_t num_args, void *result) {
  (void)self;
  return flydsl_call_tvm_ffi(&flydsl_artifact, args, num_args, result);
}

int32_t vector_add(void **slots) { return flydsl_call_slots(&flydsl_artifact, slots); }
