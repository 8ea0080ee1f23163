// SPDX-License-Identifier: Apache-2.0
//
// What kernels print and assert: records that device code writes to a buffer, and their texts.
//
// A code object that prints exports the 64-bit global `__flydsl_print`. When it is loaded, the
// runtime puts the address of a buffer there:
//
//   uint64_t used      32-bit words asked for so far; kernels add to it atomically
//   uint64_t capacity  words after this head
//   uint64_t dropped   records that did not fit
//   uint64_t reserved  0
//   uint32_t words[capacity]
//
// A record is the message's number in the note plus one (0: not written), then its values: 32-bit
// ones take a word, 64-bit ones two, the low one first.
#ifndef FLYDSL_CSRC_MESSAGES_H
#define FLYDSL_CSRC_MESSAGES_H

#include "device_api.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace flydsl::runtime {

enum class MessageKind : uint8_t { Print, Assertion, HostPrint, HostAssertion };
enum class ValueType : uint8_t { I32, I64, F32, F64 };

struct Message {
  MessageKind kind = MessageKind::Print;
  // printf's, one conversion per value. %g without flags is the shortest text of a float.
  std::string format;
  std::vector<ValueType> values;
  std::string where; // "kernel.py:17", for assertions

  uint32_t words() const; // of a record's values
};

// Throws a value Failure unless the conversions of the format are those of printf for its values.
void check_format(const Message &message);

// The text of a record, from the words of its values.
std::string format_message(const Message &message, const uint32_t *words);

// Hands text to the output function.
void write_out(const std::string &text);

// The buffer of one loaded module.
class MessageBuffer {
public:
  // Makes the buffer on the current device. `messages` has to outlive it.
  MessageBuffer(const DeviceApi &api, ModuleHandle module, const std::vector<Message> &messages);

  // Waits for the device, empties the buffer, and hands what was printed to the output function.
  // Throws a launch Failure when an assertion failed; its text has the first one.
  void drain();

private:
  struct Head {
    uint64_t used;
    uint64_t capacity;
    uint64_t dropped;
    uint64_t reserved;
  };

  void prepare(void *global);
  std::vector<uint32_t> take(Head &head);

  const DeviceApi &api;
  const std::vector<Message> &messages;
  void *address = nullptr;
  uint64_t capacity;
};

// Held by a call whose kernels print, from its launches to the reading of what they printed.
std::mutex &printing();

// Drains the buffers of all loaded modules; throws the first Failure after all of them.
void drain_all_messages();

// Where printed text goes; by default, and for null, to standard output.
using OutputFunction = void (*)(const char *text, uint64_t bytes);
void set_output(OutputFunction function);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_MESSAGES_H
