// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include "error.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace flydsl::runtime {

namespace {

constexpr uint64_t kDefaultBytes = 1 << 20;
constexpr uint64_t kMostBytes = 1ull << 30;

std::atomic<OutputFunction> output{nullptr};

// Buffers live until the process ends, as the modules do.
std::mutex registering;
std::vector<MessageBuffer *> buffers;

uint64_t buffer_words() {
  const char *text = std::getenv("FLYDSL_PRINT_BUFFER_BYTES");
  if (text == nullptr || *text == '\0')
    return kDefaultBytes / 4;
  char *end = nullptr;
  const unsigned long long bytes = std::strtoull(text, &end, 10);
  if (*end != '\0' || bytes < 64 || bytes > kMostBytes)
    fail(FLYDSL_ERROR_VALUE, std::string("FLYDSL_PRINT_BUFFER_BYTES=") + text +
                                 ": expected a number of bytes from 64 to 1073741824");
  return bytes / 4;
}

// One conversion of a format: where it begins and ends, and its parts.
struct Conversion {
  size_t begin;
  size_t end;
  std::string flags; // flags, width and precision
  char letter;       // '%' for a literal one, 0 when the format ends in the middle
};

// The next conversion at or after `from`; false when there is none.
bool next_conversion(const std::string &format, size_t from, Conversion &found) {
  found.begin = format.find('%', from);
  if (found.begin == std::string::npos)
    return false;
  size_t at = found.begin + 1;
  const size_t flagsEnd = std::min(format.find_first_not_of("-+ #0123456789.", at), format.size());
  found.flags = format.substr(at, flagsEnd - at);
  at = std::min(format.find_first_not_of("hlLqjzt", flagsEnd), format.size());
  found.letter = at < format.size() ? format[at] : '\0';
  found.end = at + 1;
  return true;
}

bool is_integer(ValueType type) { return type == ValueType::I32 || type == ValueType::I64; }
uint32_t words_of(ValueType type) {
  return type == ValueType::I64 || type == ValueType::F64 ? 2 : 1;
}

template <typename Value> std::string printed(const std::string &format, Value value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string text(static_cast<size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

// The shortest text that reads as the same number again, with a point in it: 0.1, 2.0, 1e-07, nan.
template <typename Float> std::string shortest(Float value) {
  char digits[64];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, end.ptr);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

std::string print_value(const Conversion &conversion, ValueType type, const uint32_t *words) {
  uint64_t bits = words[0];
  if (words_of(type) == 2)
    bits |= static_cast<uint64_t>(words[1]) << 32;
  const std::string head = "%" + conversion.flags;
  if (!is_integer(type)) {
    const bool plain = conversion.letter == 'g' && conversion.flags.empty();
    double value = 0;
    if (type == ValueType::F32) {
      float narrow = 0;
      std::memcpy(&narrow, words, sizeof narrow);
      if (plain)
        return shortest(narrow);
      value = narrow;
    } else {
      std::memcpy(&value, &bits, sizeof value);
    }
    return plain ? shortest(value) : printed(head + conversion.letter, value);
  }
  if (conversion.letter == 'c')
    return printed(head + "c", static_cast<int>(bits));
  if (conversion.letter == 'd' || conversion.letter == 'i')
    return printed(head + "lld", type == ValueType::I32 ? static_cast<int32_t>(words[0])
                                                        : static_cast<long long>(bits));
  return printed(head + "ll" + conversion.letter, static_cast<unsigned long long>(bits));
}

} // namespace

uint32_t Message::words() const {
  uint32_t count = 0;
  for (const ValueType type : values)
    count += words_of(type);
  return count;
}

void check_format(const Message &message) {
  Conversion conversion;
  size_t value = 0;
  for (size_t at = 0; next_conversion(message.format, at, conversion); at = conversion.end) {
    if (conversion.letter == '%')
      continue;
    const bool integer = std::strchr("diuxXoc", conversion.letter) != nullptr;
    const bool real = std::strchr("fFeEgGaA", conversion.letter) != nullptr;
    if (conversion.letter == '\0' || conversion.flags.size() > 16 || (!integer && !real) ||
        value == message.values.size() || integer != is_integer(message.values[value]))
      fail(FLYDSL_ERROR_VALUE,
           "the note's message \"" + message.format + "\" does not fit the types of its values");
    ++value;
  }
  if (value != message.values.size())
    fail(FLYDSL_ERROR_VALUE,
         "the note's message \"" + message.format + "\" has fewer conversions than values");
}

std::string format_message(const Message &message, const uint32_t *words) {
  std::string text;
  Conversion conversion;
  size_t at = 0, value = 0;
  for (; next_conversion(message.format, at, conversion); at = conversion.end) {
    text += message.format.substr(at, conversion.begin - at);
    if (conversion.letter == '%') {
      text += '%';
      continue;
    }
    const ValueType type = message.values[value++];
    text += print_value(conversion, type, words);
    words += words_of(type);
  }
  return text + message.format.substr(at);
}

MessageBuffer::MessageBuffer(const DeviceApi &api, ModuleHandle module,
                             const std::vector<Message> &messages)
    : api(api), messages(messages), capacity(buffer_words()) {
  void *global = nullptr;
  size_t bytes = 0;
  api.call(api.moduleGetGlobal, &global, &bytes, module, "__flydsl_print");
  if (bytes != sizeof address)
    fail(FLYDSL_ERROR_RUNTIME, "the code object's __flydsl_print is not an address");
  api.call(api.allocate, &address, sizeof(Head) + capacity * 4);
  try {
    prepare(global);
  } catch (...) {
    (void)api.release.function(address);
    throw;
  }
}

void MessageBuffer::prepare(void *global) {
  const std::vector<uint32_t> zeros(capacity);
  const Head head{0, capacity, 0, 0};
  auto *records = static_cast<std::byte *>(address) + sizeof head;
  api.copy(records, zeros.data(), zeros.size() * 4);
  api.copy(address, &head, sizeof head);
  api.copy(global, static_cast<const void *>(&address), sizeof address);
  const std::lock_guard<std::mutex> lock(registering);
  buffers.push_back(this);
}

std::vector<uint32_t> MessageBuffer::take(Head &head) {
  api.call(api.deviceSynchronize);
  api.copy(&head, address, sizeof head);
  if (head.used == 0)
    return {};
  std::vector<uint32_t> words(std::min(head.used, capacity));
  auto *records = static_cast<std::byte *>(address) + sizeof head;
  api.copy(words.data(), records, words.size() * 4);
  const std::vector<uint32_t> zeros(words.size());
  const Head empty{0, capacity, 0, 0};
  api.copy(records, zeros.data(), zeros.size() * 4);
  api.copy(address, &empty, sizeof empty);
  return words;
}

void MessageBuffer::drain() {
  Head head{};
  const std::vector<uint32_t> words = take(head);
  std::string text, firstFailure;
  uint64_t failures = 0;
  for (size_t at = 0; at < words.size();) {
    const uint32_t number = words[at];
    if (number == 0 || number > messages.size())
      break; // the rest of a record that did not fit
    const Message &message = messages[number - 1];
    if (at + 1 + message.words() > words.size())
      break;
    if (message.kind == MessageKind::Print)
      text += format_message(message, &words[at + 1]);
    else if (++failures == 1)
      firstFailure = message.where + ": " + format_message(message, &words[at + 1]);
    at += 1 + message.words();
  }
  if (head.dropped != 0)
    text += "[flydsl] " + std::to_string(head.dropped) +
            " more messages did not fit into the print buffer of " + std::to_string(capacity * 4) +
            " bytes (FLYDSL_PRINT_BUFFER_BYTES)\n";
  write_out(text);
  if (failures == 1)
    fail(FLYDSL_ERROR_LAUNCH, firstFailure);
  if (failures > 1)
    fail(FLYDSL_ERROR_LAUNCH, firstFailure + "\n  (and " + std::to_string(failures - 1) +
                                  " more failures of assertions in this launch)");
}

std::mutex &printing() {
  static std::mutex mutex;
  return mutex;
}

void drain_all_messages() {
  const std::lock_guard<std::mutex> call(printing());
  std::vector<MessageBuffer *> all;
  {
    const std::lock_guard<std::mutex> lock(registering);
    all = buffers;
  }
  std::optional<Failure> first;
  for (MessageBuffer *buffer : all) {
    try {
      buffer->drain();
    } catch (const Failure &failure) {
      if (!first)
        first = failure;
    }
  }
  if (first)
    throw Failure(*first);
}

void write_out(const std::string &text) {
  if (text.empty())
    return;
  if (const OutputFunction function = output.load()) {
    function(text.data(), text.size());
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void set_output(OutputFunction function) { output.store(function); }

} // namespace flydsl::runtime
