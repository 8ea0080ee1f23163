// SPDX-License-Identifier: Apache-2.0
#include "json_value.h"

#include "error.h"

// Header-only; from Debian's package nlohmann-json3-dev (3.11).
#include <nlohmann/json.hpp>

#include <limits>

namespace flydsl::runtime {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostNesting = 64;

// Builds the tree from the events of the parser.
class TreeBuilder : public nlohmann::json_sax<Json> {
public:
  bool null() override { return add({}); }
  bool boolean(bool value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::Boolean;
    made.boolean = value;
    return add(std::move(made));
  }
  bool number_integer(number_integer_t value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::Integer;
    made.integer = value;
    return add(std::move(made));
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto most = static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max());
    return value > most ? number_float(0, "") : number_integer(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t &) override {
    JsonValue made;
    made.kind = JsonValue::Kind::Number;
    return add(std::move(made));
  }
  bool string(string_t &value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::Text;
    made.text = std::move(value);
    return add(std::move(made));
  }
  bool binary(binary_t &) override { return false; } // JSON has none
  bool start_object(std::size_t) override { return open(JsonValue::Kind::Object); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::Array); }
  bool key(string_t &name) override {
    unfinished.back().names.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string &, const Json::exception &error) override {
    fail(FLYDSL_ERROR_VALUE, std::string("the note is not JSON: ") + error.what());
  }

  JsonValue root;

private:
  bool add(JsonValue value) {
    (unfinished.empty() ? root : unfinished.back().elements.emplace_back()) = std::move(value);
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (unfinished.size() == kMostNesting)
      fail(FLYDSL_ERROR_VALUE,
           "the note is not JSON of " + std::to_string(kMostNesting) + " levels or less");
    unfinished.emplace_back().kind = kind;
    return true;
  }
  bool close() {
    JsonValue done = std::move(unfinished.back());
    unfinished.pop_back();
    return add(std::move(done));
  }

  std::vector<JsonValue> unfinished; // from the outermost to the innermost
};

} // namespace

const JsonValue *JsonValue::find(std::string_view name) const {
  for (size_t index = names.size(); index-- > 0;)
    if (names[index] == name)
      return &elements[index];
  return nullptr;
}

JsonValue parse_json(std::string_view text) {
  TreeBuilder builder;
  Json::sax_parse(text, &builder);
  return std::move(builder.root);
}

std::string quoted(const std::string &text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace flydsl::runtime
