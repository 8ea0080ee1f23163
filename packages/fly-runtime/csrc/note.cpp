// SPDX-License-Identifier: Apache-2.0
#include "note.h"

#include "error.h"
#include "json_value.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace flydsl::runtime {

namespace {

using Kind = JsonValue::Kind;

constexpr int kSchema = 1;
// More than any framework's tensors have; bounds what a damaged note can ask for.
constexpr size_t kMaxRank = 64;

// Members by name, with errors that give the path of what is wrong.
class Reader {
public:
  Reader(const JsonValue &value, std::string path) : value(value), path(std::move(path)) {
    if (!value.is(Kind::Object))
      wrong("", "an object");
  }

  bool has(const char *member) const { return value.find(member) != nullptr; }

  const JsonValue &at(const char *member) const {
    const JsonValue *found = value.find(member);
    if (found == nullptr)
      fail(FLYDSL_ERROR_VALUE, "the note has no " + path + member);
    return *found;
  }

  std::string text(const char *member) const {
    const JsonValue &found = at(member);
    if (!found.is(Kind::Text))
      wrong(member, "a string");
    return found.text;
  }

  int64_t integer(const char *member, int64_t least, int64_t most = INT64_MAX) const {
    const JsonValue &found = at(member);
    if (!found.is(Kind::Integer) || found.integer < least || found.integer > most)
      wrong(member, "an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return found.integer;
  }

  int64_t integer_or(const char *member, int64_t fallback, int64_t least) const {
    return has(member) ? integer(member, least) : fallback;
  }

  bool boolean_or(const char *member, bool fallback) const {
    if (!has(member))
      return fallback;
    if (!at(member).is(Kind::Boolean))
      wrong(member, "true or false");
    return at(member).boolean;
  }

  const std::vector<JsonValue> &list(const char *member) const {
    const JsonValue &found = at(member);
    if (!found.is(Kind::Array))
      wrong(member, "an array");
    return found.elements;
  }

  Reader element(const char *member, size_t index) const {
    return {list(member)[index], path + member + "[" + std::to_string(index) + "]."};
  }

  [[noreturn]] void wrong(const std::string &member, const std::string &expected) const {
    fail(FLYDSL_ERROR_VALUE, "the note's " + path + member + " is not " + expected);
  }

private:
  const JsonValue &value;
  std::string path;
};

std::vector<Leaf> read_leaves(const Reader &argument, const char *member, bool negatives) {
  std::vector<Leaf> leaves;
  const std::vector<JsonValue> &list = argument.list(member);
  if (list.size() > kMaxRank)
    argument.wrong(member, "of rank " + std::to_string(kMaxRank) + " or less");
  for (size_t axis = 0; axis < list.size(); ++axis) {
    if (list[axis].is(Kind::Integer)) {
      const int64_t value = list[axis].integer;
      if (value < 0 && !negatives)
        argument.wrong(member, "without negative extents");
      leaves.push_back({false, value});
      continue;
    }
    const Reader leaf = argument.element(member, axis);
    if (!leaf.boolean_or("dynamic", false))
      leaf.wrong("dynamic", "true (a static leaf is a plain integer)");
    leaves.push_back({true, leaf.has("divisibility") ? leaf.integer("divisibility", 1) : 1});
  }
  return leaves;
}

const DType *read_dtype(const Reader &argument) {
  const std::string name = argument.text("dtype");
  const DType *type = find_dtype(name);
  if (type == nullptr)
    argument.wrong("dtype", "a dtype that this runtime knows: " + name);
  return type;
}

void read_align(const Reader &reader, Argument &argument) {
  argument.align = static_cast<uint32_t>(reader.has("align") ? reader.integer("align", 1, 1 << 30)
                                                             : argument.dtype->bytes());
  if ((argument.align & (argument.align - 1)) != 0)
    reader.wrong("align", "a power of two");
}

void read_tensor(const Reader &reader, Argument &argument) {
  argument.dtype = read_dtype(reader);
  read_align(reader, argument);
  const std::string access = reader.text("access");
  if (access != "read" && access != "write" && access != "readwrite")
    reader.wrong("access", "read, write or readwrite");
  argument.reads = access != "write";
  argument.writes = access != "read";
  argument.stored = access == "write" || reader.boolean_or("written", false);
  const int64_t strideBits = reader.integer_or("stride_bits", 64, 0);
  if (strideBits != 32 && strideBits != 64)
    reader.wrong("stride_bits", "32 or 64");
  argument.narrowStrides = strideBits == 32;
  argument.shape = read_leaves(reader, "shape", false);
  argument.stride = read_leaves(reader, "stride", true);
  if (argument.shape.size() != argument.stride.size())
    reader.wrong("stride", "as long as its shape");
  for (const Leaf &leaf : argument.shape)
    argument.packedBytes += leaf.dynamic ? 4 : 0;
  for (const Leaf &leaf : argument.stride)
    argument.packedBytes += leaf.dynamic ? (argument.narrowStrides ? 4 : 8) : 0;
}

Argument read_argument(const Reader &reader) {
  Argument argument;
  argument.name = reader.text("name");
  const std::string kind = reader.text("kind");
  if (kind == "tensor") {
    argument.kind = ArgumentKind::Tensor;
    read_tensor(reader, argument);
  } else if (kind == "scalar") {
    argument.kind = ArgumentKind::Scalar;
    argument.dtype = read_dtype(reader);
    if (argument.dtype->typeClass == TypeClass::Float && argument.dtype->bits == 8)
      reader.wrong("dtype", "one that a scalar can have");
  } else if (kind == "pointer") {
    argument.kind = ArgumentKind::Pointer;
    argument.dtype = read_dtype(reader);
    read_align(reader, argument);
  } else if (kind == "stream") {
    argument.kind = ArgumentKind::Stream;
  } else {
    reader.wrong("kind", "tensor, scalar, pointer or stream");
  }
  return argument;
}

ValueType read_value_type(const Reader &reader, const JsonValue &name) {
  const std::pair<const char *, ValueType> known[] = {{"i32", ValueType::I32},
                                                      {"i64", ValueType::I64},
                                                      {"f32", ValueType::F32},
                                                      {"f64", ValueType::F64}};
  for (const auto &[text, type] : known)
    if (name.text == text)
      return type;
  reader.wrong("types", "a list of i32, i64, f32 and f64");
}

Message read_message(const Reader &reader) {
  Message message;
  const std::string kind = reader.text("kind");
  const std::pair<const char *, MessageKind> known[] = {
      {"print", MessageKind::Print},
      {"assert", MessageKind::Assertion},
      {"host", MessageKind::HostPrint},
      {"host_assert", MessageKind::HostAssertion}};
  const auto *found = std::find_if(std::begin(known), std::end(known),
                                   [&](const auto &one) { return kind == one.first; });
  if (found == std::end(known))
    reader.wrong("kind", "print, assert, host or host_assert");
  message.kind = found->second;
  message.format = reader.text("format");
  for (const JsonValue &type : reader.list("types"))
    message.values.push_back(read_value_type(reader, type));
  if (reader.has("where"))
    message.where = reader.text("where");
  check_format(message);
  return message;
}

Note read_note(const JsonValue &json) {
  const Reader reader(json, "");
  if (const int64_t schema = reader.integer("schema", 0); schema != kSchema)
    fail(FLYDSL_ERROR_VALUE, "the note has schema " + std::to_string(schema) +
                                 ", this runtime reads " + std::to_string(kSchema) +
                                 "; rebuild the artifact or install another fly-runtime");
  Note note;
  note.name = reader.text("name");
  const size_t arguments = reader.list("arguments").size();
  uint32_t streams = 0;
  for (size_t index = 0; index < arguments; ++index) {
    Argument argument = read_argument(reader.element("arguments", index));
    streams += argument.kind == ArgumentKind::Stream ? 1 : 0;
    note.slots += argument.slots();
    note.packedBytes += (argument.packedBytes + 7u) & ~7u;
    note.arguments.push_back(std::move(argument));
  }
  note.hiddenStream = reader.boolean_or("hidden_stream", false);
  if (streams > 0 && note.hiddenStream)
    reader.wrong("arguments", "a list without streams, since it has a hidden one");
  note.slots += note.hiddenStream ? 1 : 0;
  const size_t kernels = reader.list("kernels").size();
  for (size_t index = 0; index < kernels; ++index) {
    const Reader kernel = reader.element("kernels", index);
    note.kernels.push_back({kernel.text("name"), kernel.integer_or("lds_bytes", 0, 0),
                            kernel.boolean_or("griddepcontrol_wait", false)});
  }
  const size_t messages = reader.has("messages") ? reader.list("messages").size() : 0;
  for (size_t index = 0; index < messages; ++index)
    note.messages.push_back(read_message(reader.element("messages", index)));
  for (const Message &message : note.messages)
    note.kernelsSpeak |=
        message.kind == MessageKind::Print || message.kind == MessageKind::Assertion;
  return note;
}

std::string leaves_text(const std::vector<Leaf> &leaves) {
  std::string text = "(";
  for (const Leaf &leaf : leaves) {
    text += text.size() > 1 ? ", " : "";
    text += leaf.dynamic ? "?" : std::to_string(leaf.value);
  }
  return text + (leaves.size() == 1 ? ",)" : ")");
}

} // namespace

std::string Argument::expectation() const {
  switch (kind) {
  case ArgumentKind::Tensor:
    return "a " + std::string(dtype->name) + " tensor of shape " + leaves_text(shape);
  case ArgumentKind::Scalar:
    return dtype->typeClass == TypeClass::Bool
               ? "a bool"
               : (dtype->typeClass == TypeClass::Float ? "a number (" : "an integer (") +
                     std::string(dtype->name) + ")";
  case ArgumentKind::Pointer:
    return "a pointer to " + std::string(dtype->name) + " (an address, a c_void_p or None)";
  case ArgumentKind::Stream:
    return "a stream (None, an address or an object with cuda_stream)";
  }
  return "";
}

Note parse_note(std::string_view json) { return read_note(parse_json(json)); }

} // namespace flydsl::runtime
