#include "data/records/json_object.hpp"

#include <simdjson.h>

#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

namespace ondemand = simdjson::ondemand;

/// Thrown for text that is not valid JSON. The catcher calls explain(), which finds the reason and the position.
struct InvalidJson {
  const char* why = "";
};

[[noreturn]] void refuse_depth() {
  throw UsageError(fmt::format("the JSON of the line is nested too deeply; at most {} levels are allowed", max_json_depth));
}

/// Returns the value of `result`, or throws InvalidJson.
template <class T>
T valid(simdjson::simdjson_result<T>&& result) {
  T value;
  if (const auto error = std::move(result).get(value)) throw InvalidJson{simdjson::error_message(error)};
  return value;
}

/// Reads one JSON object and checks the syntax of all values. Passes to the visitor the values of the keys for which
/// JsonVisitor::begin_key() returns true.
class ObjectWalk {
 public:
  explicit ObjectWalk(JsonVisitor& visitor) : visitor_(visitor) {}

  void object(ondemand::object object, int depth) {
    require_depth(depth);
    for (auto each : object) {
      auto field = valid(std::move(each));
      const auto key = key_of(field);
      if (depth == 1) is_wanted_ = visitor_.begin_key(key);
      value(field.value(), depth);
    }
  }

 private:
  void value(ondemand::value value, int depth) {
    switch (valid(value.type())) {
      case ondemand::json_type::object:
        if (is_wanted_) visitor_.nested();
        return object(valid(value.get_object()), depth + 1);
      case ondemand::json_type::array:
        if (is_wanted_ && depth > 1) visitor_.nested();
        return array(valid(value.get_array()), depth + 1);
      default:
        const auto found = scalar_of(value);
        if (is_wanted_) visitor_.scalar(found);
    }
  }

  void array(ondemand::array array, int depth) {
    require_depth(depth);
    if (is_wanted_) visitor_.begin_array();
    for (auto each : array) value(valid(std::move(each)), depth);
    if (is_wanted_) visitor_.end_array();
  }

  /// Returns the name of a key. The name refers to the parsed text, unless it has escapes, which need a copy.
  static std::string_view key_of(ondemand::field& field) {
    const char* const begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') ++end;  // the parser has checked that a quote follows
    return *end == '"' ? std::string_view(begin, end) : valid(field.unescaped_key());
  }

  static JsonScalar scalar_of(ondemand::value& value) {
    switch (valid(value.type())) {
      case ondemand::json_type::string:
        return valid(value.get_string());
      case ondemand::json_type::boolean:
        return valid(value.get_bool());
      case ondemand::json_type::null:
        if (!valid(value.is_null())) throw InvalidJson{"invalid literal"};
        return nullptr;
      default:
        break;
    }
    const auto token = value.raw_json_token();  // the token includes the blanks after it
    std::int64_t integer = 0;
    if (value.get_int64().get(integer) == simdjson::SUCCESS) return integer;
    return JsonReal{valid(value.get_double()), token.substr(0, token.find_last_not_of(" \t\r\n") + 1)};
  }

  static void require_depth(int depth) {
    if (depth > max_json_depth) refuse_depth();
  }

  JsonVisitor& visitor_;
  bool is_wanted_ = false;
};

/// If the parser stopped at a constant that only Python's json module writes, such as NaN, returns this constant; otherwise
/// "". The parser's message ends with the text read so far: "... invalid literal; last read: '"a":N'".
std::string_view python_constant(std::string_view message) {
  if (message.ends_with("-I'")) return "-Infinity";
  if (message.find("invalid literal") == message.npos) return "";
  if (message.ends_with("N'")) return "NaN";
  return message.ends_with("I'") ? "Infinity" : "";
}

/// Throws UsageError for a text that simdjson has refused with the reason `why`. Parses the text again with the library
/// nlohmann/json, which is slower but reports the position of the error.
[[noreturn]] void explain(std::string_view text, std::string_view why) try {
  using Json = nlohmann::json;
  const auto check = [](int depth, Json::parse_event_t event, const Json&) {
    const bool begins_object = event == Json::parse_event_t::object_start;
    const bool begins = begins_object || event == Json::parse_event_t::array_start;
    if (depth == 0 && !begins_object && event != Json::parse_event_t::object_end)
      throw UsageError("the line is not a JSON object; each line must have the form {\"key\": value, ...}");
    if (begins && depth >= max_json_depth) refuse_depth();
    return !begins || depth == 0;  // false: the parser does not store the value
  };
  const auto parsed = Json::parse(text.begin(), text.end(), check);
  throw UsageError(fmt::format("the line is not valid JSON: {}", why));
} catch (const nlohmann::json::exception& error) {
  const std::string_view message = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 3: ..."
  if (const auto constant = python_constant(message); !constant.empty())
    throw UsageError(fmt::format(
        "the line is not valid JSON: {} is not a JSON value; write null for a missing number (in Python, None)", constant));
  throw UsageError(fmt::format("the line is not valid JSON: {}", excerpt(message.substr(message.find("] ") + 2), 200)));
}

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

struct JsonObjectReader::Parser : ondemand::parser {};

JsonObjectReader::JsonObjectReader() : parser_(std::make_unique<Parser>()) {}
JsonObjectReader::~JsonObjectReader() = default;

void JsonObjectReader::read(std::string_view text, JsonVisitor& visitor) try {
  static_assert(padding >= simdjson::SIMDJSON_PADDING);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (parser_->capacity() < text.size() && parser_->allocate(std::bit_ceil(text.size())) != simdjson::SUCCESS)
    throw InvalidJson{"the line is too long"};
  auto document = valid(parser_->iterate(text.data(), text.size(), text.size() + padding));
  ObjectWalk(visitor).object(valid(document.get_object()), 1);
  if (document.current_location().error() == simdjson::SUCCESS) throw InvalidJson{"text follows the object"};
} catch (const InvalidJson& invalid) {
  explain(text, invalid.why);
}

}  // namespace trainrt::data
