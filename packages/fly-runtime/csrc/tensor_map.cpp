// SPDX-License-Identifier: Apache-2.0
//
// flydsl_tensor_map: the descriptor by which Hopper's copy engine knows a tensor.
#include "artifact_state.h"
#include "device.h"
#include "error.h"

namespace flydsl::runtime {

namespace {

constexpr uint32_t kMostAxes = 5;
constexpr uint64_t kMapAlignment = 64;

template <typename Integer> std::string list_text(const Integer *values, uint32_t count) {
  std::string text = "(";
  for (uint32_t axis = 0; axis < count; ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(values[axis]);
  return text + ")";
}

void encode(const Note &note, void *map, const FlyTensorMap &tensor) {
  if (map == nullptr || reinterpret_cast<uint64_t>(map) % kMapAlignment != 0)
    fail(FLYDSL_ERROR_VALUE, note.name + ": a tensor map lies at a multiple of 64 bytes");
  if (tensor.rank < 1 || tensor.rank > kMostAxes)
    fail(FLYDSL_ERROR_VALUE,
         note.name + ": a tensor map has 1 to 5 axes, not " + std::to_string(tensor.rank));
  const Devices &all = devices();
  const DeviceApi &api = *all.api;
  if (!api.cuda())
    fail(FLYDSL_ERROR_RUNTIME, note.name + ": a tensor map is for a CUDA device, but " +
                                   all.current().describe(all.emulated()) + " is served by " +
                                   api.path);
  const CurrentDevice scope(all);
  try {
    api.call(api.cuTensorMapEncodeTiled, map, tensor.data_type, tensor.rank, tensor.address,
             tensor.dims, tensor.byte_strides, tensor.box, tensor.element_strides,
             tensor.interleave, tensor.swizzle, tensor.l2_promotion, tensor.fill);
  } catch (Failure &failure) {
    // The driver says of every limit the same: an invalid value.
    fail(failure.status == FLYDSL_ERROR_MEMORY ? FLYDSL_ERROR_MEMORY : FLYDSL_ERROR_VALUE,
         note.name + ": " + failure.text + "\nof the tensor map of extents " +
             list_text(tensor.dims, tensor.rank) + " and strides in bytes " +
             list_text(tensor.byte_strides, tensor.rank - 1) + ", in boxes of " +
             list_text(tensor.box, tensor.rank) +
             ". Address and strides are multiples of 16 bytes, a box has at most 256 elements on "
             "each axis, and its innermost row is a multiple of 16 bytes and not wider than its "
             "swizzle");
  }
}

} // namespace
} // namespace flydsl::runtime

int32_t flydsl_tensor_map(const FlyArtifact *artifact, void *map, const FlyTensorMap *tensor) {
  using namespace flydsl::runtime;
  return guarded([&] {
    const Note &note = ArtifactState::of(artifact).note();
    if (tensor == nullptr || tensor->dims == nullptr || tensor->box == nullptr ||
        tensor->element_strides == nullptr || (tensor->rank > 1 && tensor->byte_strides == nullptr))
      fail(FLYDSL_ERROR_VALUE, note.name + ": a pointer of a tensor map is NULL");
    encode(note, map, *tensor);
  });
}
