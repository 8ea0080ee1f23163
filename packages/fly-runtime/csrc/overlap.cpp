// SPDX-License-Identifier: Apache-2.0
#include "overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace flydsl::runtime {

namespace {

constexpr size_t kMaxModes = 64;
constexpr int kSearchSteps = 1 << 16;

struct Mode {
  int64_t stride;
  int64_t last; // the largest coordinate
};

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Looks for a difference of two coordinates, other than zero, whose offset is zero.
class Search {
public:
  Search(const Mode *modes, size_t count) : modes(modes), count(count) {
    reach[count] = 0;
    for (size_t i = count; i-- > 0;)
      reach[i] = reach[i + 1] + modes[i].stride * modes[i].last;
  }

  // `offset` is that of the modes before `at`, `moved` whether one of them differs.
  bool find(size_t at, int64_t offset, bool moved) {
    if (++steps > kSearchSteps)
      return true;
    if (at == count)
      return moved && offset == 0;
    const Mode &mode = modes[at];
    const int64_t rest = reach[at + 1]; // what the modes behind can still make up for
    int64_t low = std::max(-floor_div(rest + offset, mode.stride), -mode.last);
    const int64_t high = std::min(floor_div(rest - offset, mode.stride), mode.last);
    if (!moved)
      low = std::max<int64_t>(low, 0); // the negative of a difference is one too
    for (int64_t step = low; step <= high; ++step)
      if (find(at + 1, offset + step * mode.stride, moved || step != 0))
        return true;
    return false;
  }

private:
  const Mode *modes;
  size_t count;
  std::array<int64_t, kMaxModes + 1> reach;
  int steps = 0;
};

} // namespace

bool shares_memory(const int64_t *shape, const int64_t *strides, size_t rank) {
  std::array<Mode, kMaxModes> modes;
  size_t count = 0;
  for (size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] > 1)
      modes[count++] = {std::abs(strides[axis]), shape[axis] - 1};
  if (count < 2)
    return count == 1 && modes[0].stride == 0;
  std::sort(modes.begin(), modes.begin() + count,
            [](const Mode &a, const Mode &b) { return a.stride > b.stride; });
  // Each mode steps over all that the smaller ones cover: so are all tensors that are no trick.
  int64_t covered = 0;
  bool nested = true;
  for (size_t i = count; i-- > 0;) {
    nested &= modes[i].stride > covered;
    covered += modes[i].stride * modes[i].last;
  }
  return !nested && Search(modes.data(), count).find(0, 0, false);
}

} // namespace flydsl::runtime
