#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace trainrt::data {

/// A number that is not an integer, or is outside the range of std::int64_t.
struct JsonReal {
  double value = 0;
  std::string_view text;  ///< the number as written; valid as long as the record
};

/// A JSON value that is not an array or an object.
using JsonScalar = std::variant<std::nullptr_t, bool, std::int64_t, JsonReal, std::string_view>;

/// Returns the value as text: a string unchanged, a real number as written, an integer in decimal digits, and "true",
/// "false" or "null".
std::string text_of(const JsonScalar& value);

/// Receives the values of one JSON object while it is parsed. An exception thrown by a function ends the parse.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  /// Called for each key. Returns true if the value of the key must be passed to the other functions. If the result is
  /// false, only the syntax of the value is checked.
  virtual bool begin_key(std::string_view key) = 0;
  virtual void scalar(const JsonScalar& value) = 0;  ///< the value of the key, or an element of its array
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  /// Called for a value that no field can hold: an object, or an array that contains an array or an object. The
  /// implementation must throw.
  [[noreturn]] virtual void nested() = 0;
};

/// Parses JSON objects with simdjson. Owns the parser's memory. Only one thread at a time may use an object.
class JsonObjectReader {
 public:
  static constexpr std::size_t padding = 64;  ///< readable bytes that must follow each text

  JsonObjectReader();
  ~JsonObjectReader();
  /// Parses `text`, which must be one JSON object, and passes its keys and values to `visitor` in their order. The
  /// `padding` bytes after `text` may have any content. Throws UsageError, with the position, if `text` is not valid JSON
  /// or nests arrays and objects more than max_json_depth deep.
  void read(std::string_view text, JsonVisitor& visitor);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace trainrt::data
