#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace trainrt::data {

/// A number that is not whole, or beyond the range of std::int64_t.
struct JsonReal {
  double value = 0;
  std::string_view text;  ///< as written; valid as long as the record
};

/// A number, a text, true, false or null.
using JsonScalar = std::variant<std::nullptr_t, bool, std::int64_t, JsonReal, std::string_view>;

/// The value as a text: that of a text, of a number its digits as written, "true", "false", "null".
std::string text_of(const JsonScalar& value);

/// Takes the values of one JSON object as they are parsed. What it throws ends the parse.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  /// False: the value of this key is passed over, whatever it is.
  virtual bool begin_key(std::string_view key) = 0;
  virtual void scalar(const JsonScalar& value) = 0;  ///< of the key, or of its array
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  /// The value is an object, or there is one or an array in its array: not taken apart.
  virtual void nested() = 0;
};

/// Hands a text that is one object to the visitor, without making a document of it. Throws UsageError that says what is
/// wrong with the text.
void visit_object(std::string_view text, JsonVisitor& visitor);

}  // namespace trainrt::data
