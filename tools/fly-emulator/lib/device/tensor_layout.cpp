// SPDX-License-Identifier: Apache-2.0
#include "device/tensor_layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "support/format.h"

namespace flyemu {
namespace {

std::string tuple(const std::vector<int64_t> &values) {
  std::string out = "(";
  for (const int64_t value : values)
    out += (out.size() > 1 ? ", " : "") + std::to_string(value);
  return out + (values.size() == 1 ? ",)" : ")");
}

} // namespace

std::string TensorLayout::shapeText() const {
  return "shape " + tuple(shape) + format(", elements of %u bytes", itemBytes);
}

void TensorLayout::findGaps() {
  gaps_.clear();
  if (itemBytes == 0)
    return;
  std::vector<Mode> modes;
  for (size_t mode = 0; mode < shape.size(); ++mode) {
    if (strides[mode] < 0)
      return; // `data` is not where its memory begins
    if (shape[mode] > 1 && strides[mode] != 0)
      modes.push_back({static_cast<uint64_t>(strides[mode]), static_cast<uint64_t>(shape[mode])});
  }
  std::sort(modes.begin(), modes.end(),
            [](const Mode &a, const Mode &b) { return a.stride < b.stride; });
  // Modes that go on before the inner ones end make one run with them.
  run_ = itemBytes;
  auto mode = modes.begin();
  for (; mode != modes.end() && mode->stride <= run_; ++mode)
    run_ += mode->stride * (mode->extent - 1);
  gaps_.assign(mode, modes.end());
  std::reverse(gaps_.begin(), gaps_.end());
}

bool TensorLayout::holds(uint64_t address, uint64_t bytes) const {
  if (gaps_.empty())
    return true;
  uint64_t offset = address - data;
  for (const Mode &mode : gaps_)
    offset -= std::min(offset / mode.stride, mode.extent - 1) * mode.stride;
  return offset + bytes <= run_;
}

std::string TensorLayout::elementText(uint64_t address) const {
  // From the largest stride down; what is left over are bytes within the element.
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  std::vector<int64_t> coordinate(shape.size(), 0);
  auto rest = static_cast<int64_t>(address - data);
  bool inside = true;
  bool slowest = true;
  for (const size_t mode : order) {
    if (strides[mode] == 0 || shape[mode] == 1)
      continue;
    int64_t index = rest / strides[mode];
    if (rest - index * strides[mode] < 0)
      index -= strides[mode] > 0 ? 1 : -1;
    // Only the slowest mode runs on; a hole between the others' elements stays a remainder.
    if (!slowest)
      index = std::clamp<int64_t>(index, 0, shape[mode] - 1);
    slowest = false;
    coordinate[mode] = index;
    inside = inside && index >= 0 && index < shape[mode];
    rest -= index * strides[mode];
  }
  std::string element = "element " + tuple(coordinate);
  if (!inside)
    return "where " + element + " would be";
  if (rest == 0)
    return element;
  if (rest > 0 && rest < int64_t{itemBytes})
    return format("byte %lld of ", static_cast<long long>(rest)) + element;
  return format("%lld bytes from ", static_cast<long long>(rest)) + element;
}

} // namespace flyemu
