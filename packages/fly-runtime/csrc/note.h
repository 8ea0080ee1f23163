// SPDX-License-Identifier: Apache-2.0
//
// An artifact's JSON note (docs/artifact.md), in the form in which calls are checked against it.
#ifndef FLYDSL_CSRC_NOTE_H
#define FLYDSL_CSRC_NOTE_H

#include "dtype.h"
#include "messages.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flydsl::runtime {

enum class ArgumentKind : uint8_t { Tensor, Scalar, Pointer, Stream };

// One extent or stride: a static value, or a dynamic one with a known divisor.
struct Leaf {
  bool dynamic;
  int64_t value; // the static value, or the divisor (1 when nothing is known)
};

struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::Tensor;
  const DType *dtype = nullptr; // null for a stream
  // Tensors only:
  uint32_t align = 1; // bytes; also of pointers
  bool reads = true;
  bool writes = false;
  bool stored = false; // the compiler has seen a store; `writes` may mean that it cannot know
  bool narrowStrides = false; // packed as int32
  std::vector<Leaf> shape;
  std::vector<Leaf> stride; // as long as shape
  uint32_t packedBytes = 0; // of the buffer of dynamic leaves; 0: the tensor has one slot only

  uint32_t slots() const { return packedBytes == 0 ? 1 : 2; }
  // "a float32 tensor of shape (?, 128)"
  std::string expectation() const;
};

struct Kernel {
  std::string name;
  int64_t ldsBytes = 0;    // static
  bool waitsFirst = false; // for the launches before it, ahead of any access: griddepcontrol.wait
};

struct Note {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Kernel> kernels;
  std::vector<Message> messages; // what kernels print and assert, by number
  bool kernelsSpeak = false;     // some message is a kernel's
  bool hiddenStream = false;
  uint32_t slots = 0;       // of the host function, the hidden stream's included
  uint32_t packedBytes = 0; // of all arguments, each rounded up to 8
};

// Throws a value Failure that says which member is missing or wrong.
Note parse_note(std::string_view json);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_NOTE_H
