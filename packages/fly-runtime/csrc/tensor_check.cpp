// SPDX-License-Identifier: Apache-2.0
#include "tensor_check.h"

#include "overlap.h"

#include <cstdio>
#include <cstring>

namespace flydsl::runtime {

namespace {

std::string tuple_text(const int64_t *values, size_t count) {
  std::string text = "(";
  for (size_t axis = 0; axis < count; ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(values[axis]);
  return text + (count == 1 ? ",)" : ")");
}

std::string ordinal(size_t axis) { return " on axis " + std::to_string(axis); }

// Expected and found for one leaf: "an extent divisible by 4 on axis 0", "6 (shape (6,))".
[[noreturn]] void refuse_leaf(const ArgumentSite &site, const char *what, const Leaf &leaf,
                              size_t axis, const int64_t *values, const char *whole) {
  const size_t rank = site.argument().shape.size();
  const std::string expected =
      leaf.dynamic
          ? std::string(what) + " divisible by " + std::to_string(leaf.value) + ordinal(axis)
          : std::string(what) + " of " + std::to_string(leaf.value) + ordinal(axis);
  site.refuse(FLYDSL_ERROR_VALUE, expected,
              std::to_string(values[axis]) + " (" + whole + " " + tuple_text(values, rank) + ")");
}

// Which of the values that elements of one address get would stay, nobody can say. torch refuses
// its own writes into such a tensor too.
[[noreturn]] void refuse_shared(const ArgumentSite &site, size_t axis, const DLTensor &tensor) {
  site.refuse(FLYDSL_ERROR_VALUE,
              "a tensor whose elements have memory of their own, because it is written",
              "a stride of 0" + ordinal(axis) + " of extent " + std::to_string(tensor.shape[axis]) +
                  " (made by expand or broadcast_to?); pass a copy, such as t.contiguous()");
}

[[noreturn]] void refuse_overlap(const ArgumentSite &site, const DLTensor &tensor,
                                 const int64_t *strides) {
  const auto rank = static_cast<size_t>(tensor.ndim);
  site.refuse(FLYDSL_ERROR_VALUE,
              "a tensor whose elements have memory of their own, because it is written",
              "strides " + tuple_text(strides, rank) + " by which elements of shape " +
                  tuple_text(tensor.shape, rank) +
                  " share memory (made by as_strided or unfold?); pass a copy, such as "
                  "t.contiguous()");
}

[[noreturn]] void refuse_width(const ArgumentSite &site, const char *what, size_t axis,
                               int64_t value) {
  site.refuse(FLYDSL_ERROR_VALUE, std::string(what) + " that fits in 32 bits" + ordinal(axis),
              std::to_string(value));
}

[[noreturn]] void refuse_rank(const ArgumentSite &site, const DLTensor &tensor) {
  const Argument &argument = site.argument();
  site.refuse(FLYDSL_ERROR_VALUE,
              argument.expectation() + " (rank " + std::to_string(argument.shape.size()) + ")",
              "shape " + tuple_text(tensor.shape, static_cast<size_t>(tensor.ndim)) + " (rank " +
                  std::to_string(tensor.ndim) + ")");
}

[[noreturn]] void refuse_alignment(const ArgumentSite &site, const void *data) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", data);
  site.refuse(FLYDSL_ERROR_VALUE,
              "data aligned to " + std::to_string(site.argument().align) + " bytes",
              "the address " + std::string(address));
}

[[noreturn]] void refuse_span(const ArgumentSite &site) {
  site.refuse(FLYDSL_ERROR_VALUE, "a tensor within the address space",
              "extents and strides that reach beyond it");
}

bool satisfies(const Leaf &leaf, int64_t value) {
  if (!leaf.dynamic)
    return value == leaf.value;
  return leaf.value == 1 || value % leaf.value == 0;
}

bool fits_32(int64_t value) { return value == static_cast<int32_t>(value); }

template <typename Narrow> void pack(std::byte *&at, int64_t value) {
  const auto narrow = static_cast<Narrow>(value);
  std::memcpy(at, &narrow, sizeof narrow);
  at += sizeof narrow;
}

// The largest rank that a note can declare (note.cpp).
constexpr size_t kMaxRank = 64;

// DLPack lets strides be NULL for compact row-major tensors.
const int64_t *strides_of(const DLTensor &tensor, int64_t (&scratch)[kMaxRank]) {
  if (tensor.strides != nullptr)
    return tensor.strides;
  int64_t running = 1;
  for (int axis = tensor.ndim; axis-- > 0;) {
    scratch[axis] = running;
    running *= tensor.shape[axis] > 1 ? tensor.shape[axis] : 1;
  }
  return scratch;
}

void check_extents(const ArgumentSite &site, const DLTensor &tensor, std::byte *&packed,
                   bool &empty) {
  const std::vector<Leaf> &shape = site.argument().shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = tensor.shape[axis];
    if (!satisfies(shape[axis], extent) || extent < 0)
      refuse_leaf(site, "an extent", shape[axis], axis, tensor.shape, "shape");
    empty |= extent == 0;
    if (!shape[axis].dynamic)
      continue;
    if (!fits_32(extent))
      refuse_width(site, "an extent", axis, extent);
    pack<int32_t>(packed, extent);
  }
}

void check_strides(const ArgumentSite &site, const DLTensor &tensor, const int64_t *strides,
                   std::byte *&packed, bool empty) {
  const Argument &argument = site.argument();
  for (size_t axis = 0; axis < argument.stride.size(); ++axis) {
    const Leaf &leaf = argument.stride[axis];
    // The stride of an axis with one coordinate is multiplied by 0 only, and frameworks put
    // anything there.
    const bool matters = tensor.shape[axis] > 1 && !empty;
    if (matters && !satisfies(leaf, strides[axis]))
      refuse_leaf(site, "a stride", leaf, axis, strides, "strides");
    if (matters && argument.stored && strides[axis] == 0)
      refuse_shared(site, axis, tensor);
    if (!leaf.dynamic)
      continue;
    if (!argument.narrowStrides) {
      pack<int64_t>(packed, strides[axis]);
      continue;
    }
    if (matters && !fits_32(strides[axis]))
      refuse_width(site, "a stride", axis, strides[axis]);
    pack<int32_t>(packed, strides[axis]);
  }
}

// Which bytes the elements cover; negative strides reach below the first element.
void find_span(const ArgumentSite &site, const DLTensor &tensor, const int64_t *strides,
               CheckedTensor &checked) {
  int64_t lowest = 0;
  int64_t highest = 0;
  bool overflow = false;
  for (int axis = 0; axis < tensor.ndim; ++axis) {
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(tensor.shape[axis] - 1, strides[axis], &reach);
    int64_t &end = reach < 0 ? lowest : highest;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  const int64_t size = site.argument().dtype->bytes();
  int64_t lowBytes = 0;
  int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(lowest, size, &lowBytes);
  overflow |= __builtin_sub_overflow(highest + 1, lowest, &bytes);
  overflow |= __builtin_mul_overflow(bytes, size, &bytes);
  if (overflow)
    refuse_span(site);
  checked.low = static_cast<char *>(checked.data) + lowBytes;
  checked.bytes = static_cast<size_t>(bytes);
}

} // namespace

CheckedTensor check_tensor(const ArgumentSite &site, const DLTensor &tensor, std::byte *packed) {
  const Argument &argument = site.argument();
  if (!accepts(*argument.dtype, tensor.dtype))
    site.refuse(FLYDSL_ERROR_TYPE, argument.expectation(),
                "a " + dtype_name(tensor.dtype) + " tensor");
  if (tensor.ndim != static_cast<int32_t>(argument.shape.size()))
    refuse_rank(site, tensor);
  CheckedTensor checked{};
  checked.data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  checked.low = static_cast<char *>(checked.data);
  check_extents(site, tensor, packed, checked.empty);
  int64_t scratch[kMaxRank];
  const int64_t *strides = strides_of(tensor, scratch);
  check_strides(site, tensor, strides, packed, checked.empty);
  if (checked.empty)
    return checked;
  if (tensor.data == nullptr)
    site.refuse(FLYDSL_ERROR_VALUE, "data",
                "a NULL pointer for shape " +
                    tuple_text(tensor.shape, static_cast<size_t>(tensor.ndim)) +
                    " (a tensor without storage?)");
  if ((reinterpret_cast<uintptr_t>(checked.data) & (argument.align - 1)) != 0)
    refuse_alignment(site, checked.data);
  find_span(site, tensor, strides, checked);
  if (argument.stored && shares_memory(tensor.shape, strides, argument.shape.size()))
    refuse_overlap(site, tensor, strides);
  return checked;
}

} // namespace flydsl::runtime
