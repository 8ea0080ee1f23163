// SPDX-License-Identifier: Apache-2.0
//
// A JSON text as a tree of plain containers. nlohmann-json parses it; its own tree is not used,
// since that allocates when it is destroyed and ends the process when there is no memory then.
#ifndef FLYDSL_CSRC_JSON_VALUE_H
#define FLYDSL_CSRC_JSON_VALUE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flydsl::runtime {

struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Integer, Number, Text, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0; // of a Number nothing is kept
  std::string text;
  std::vector<std::string> names; // of an Object's members
  std::vector<JsonValue> elements;

  bool is(Kind wanted) const { return kind == wanted; }

  // The member of an object by its name, the last one of several; null when there is none.
  const JsonValue *find(std::string_view name) const;
};

// Throws a value Failure for a text that is no JSON or nests deeper than any note does.
JsonValue parse_json(std::string_view text);

// A text between quotes, with what is not UTF-8 replaced.
std::string quoted(const std::string &text);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_JSON_VALUE_H
