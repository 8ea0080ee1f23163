// SPDX-License-Identifier: Apache-2.0
#ifndef FLYDSL_CSRC_SMALL_BUFFER_H
#define FLYDSL_CSRC_SMALL_BUFFER_H

#include <cstddef>
#include <memory>

namespace flydsl::runtime {

// An uninitialised array whose length is known at run time: on the stack up to Inline elements, on
// the heap beyond.
template <typename Element, size_t Inline> class SmallBuffer {
public:
  explicit SmallBuffer(size_t count)
      : heap(count > Inline ? new Element[count] : nullptr), data(heap ? heap.get() : inlined) {}
  SmallBuffer(const SmallBuffer &) = delete;
  SmallBuffer &operator=(const SmallBuffer &) = delete;

  Element &operator[](size_t index) { return data[index]; }
  Element *begin() { return data; }

private:
  Element inlined[Inline];
  std::unique_ptr<Element[]> heap;
  Element *data;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_SMALL_BUFFER_H
