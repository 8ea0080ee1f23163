// SPDX-License-Identifier: Apache-2.0
#ifndef FLYDSL_CSRC_SMALL_BUFFER_H
#define FLYDSL_CSRC_SMALL_BUFFER_H

#include <cstddef>
#include <memory>
#include <vector>

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

// What is appended one by one: on the stack up to Inline elements, then on the heap.
template <typename Element, size_t Inline> class SmallVector {
public:
  SmallVector() = default;
  SmallVector(const SmallVector &) = delete;
  SmallVector &operator=(const SmallVector &) = delete;

  void push_back(const Element &element) {
    if (count < Inline)
      inlined[count] = element;
    else
      others.push_back(element);
    ++count;
  }
  size_t size() const { return count; }
  Element &operator[](size_t index) {
    return index < Inline ? inlined[index] : others[index - Inline];
  }

private:
  Element inlined[Inline];
  std::vector<Element> others;
  size_t count = 0;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_SMALL_BUFFER_H
