#include "data/records/json_object.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

/// Returns the word of Python's json module at which the parser stopped, "" if it is none. The parser's message ends with
/// what it has read: "... invalid literal; last read: '"a":N'".
std::string_view python_word(std::string_view message) {
  if (message.ends_with("-I'")) return "-Infinity";
  if (message.find("invalid literal") == message.npos) return "";
  if (message.ends_with("N'")) return "NaN";
  return message.ends_with("I'") ? "Infinity" : "";
}

/// What nlohmann's parser calls: depth 1 is within the object, depth 2 within an array of a key.
class ObjectEvents {
 public:
  using Json = nlohmann::json;

  explicit ObjectEvents(JsonVisitor& visitor) : visitor_(visitor) {}

  bool null() { return take(nullptr); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(Json::number_integer_t value) { return take(value); }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return take(JsonReal{static_cast<double>(value), std::to_string(value)});
    return take(static_cast<std::int64_t>(value));
  }
  bool number_float(Json::number_float_t value, const std::string& text) { return take(JsonReal{value, text}); }
  bool string(std::string& value) { return take(std::string_view(value)); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(std::size_t) {
    if (depth_ > 0 && is_wanted_) visitor_.nested();
    deeper();
    return true;
  }
  bool key(std::string& name) {
    if (depth_ == 1) is_wanted_ = visitor_.begin_key(name);
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    if (depth_ == 0) refuse_kind();
    if (is_wanted_ && depth_ > 1) visitor_.nested();
    if (is_wanted_) visitor_.begin_array();
    deeper();
    return true;
  }
  bool end_array() {
    if (--depth_ == 1 && is_wanted_) visitor_.end_array();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view text = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 3: ..."
    if (const auto word = python_word(text); !word.empty())
      throw UsageError(fmt::format(
          "is not valid JSON: {} is not a JSON value; write null for a missing number (in Python, None)", word));
    const auto prefix = text.find("] ");
    throw UsageError(
        fmt::format("is no valid JSON: {}", excerpt(prefix == text.npos ? text : text.substr(prefix + 2), 200)));
  }

 private:
  bool take(const JsonScalar& value) {
    if (depth_ == 0) refuse_kind();
    if (is_wanted_) visitor_.scalar(value);
    return true;
  }
  void deeper() {
    if (++depth_ > max_json_depth) throw UsageError("is JSON that is nested too deeply");
  }
  [[noreturn]] static void refuse_kind() {
    throw UsageError("is no JSON object: each line is to be one, {\"key\": value, ...}");
  }

  JsonVisitor& visitor_;
  int depth_ = 0;
  bool is_wanted_ = false;
};

}  // namespace

std::string text_of(const JsonScalar& value) {
  struct Text {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(const JsonReal& value) const { return std::string(value.text); }
    std::string operator()(std::string_view value) const { return std::string(value); }
  };
  return std::visit(Text{}, value);
}

void visit_object(std::string_view text, JsonVisitor& visitor) {
  ObjectEvents events(visitor);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
}

}  // namespace trainrt::data
