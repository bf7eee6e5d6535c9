#pragma once
#include <map>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "program/protocol/channel.hpp"

namespace trainrt::program {

// text_field(), flag_field(), number_field() and field() return the field `name` of the message `body`. They throw a
// UsageError that names the field if the field has another type, or if the field is missing and has no default.
std::string text_field(const Json& body, const char* name);
std::string text_field(const Json& body, const char* name,
                       std::string default_value);    ///< `default_value` if the field is missing
bool flag_field(const Json& body, const char* name);  ///< false if the field is missing
std::int64_t number_field(const Json& body, const char* name, std::int64_t min = 0);
const Json& field(const Json& body, const char* name, Json::value_t type);
/// Returns a field that is a list of non-negative integers. `what` names the object with this shape in the error
/// message.
Shape shape_field(const Json& body, const std::string& what, const char* name = "shape");

/// Returns the position in the user's code from which the message was sent: "report() at train.py:12", or "report()" if
/// the message does not contain a position.
std::string call_place(const Message& message);

/// Returns the size of an array in bytes. Throws UsageError if the size exceeds the address space; `what` names the
/// array.
std::size_t bytes_of(const Shape& shape, DType dtype, const std::string& what);

/// Returns the number that `value` represents. JSON has no NaN and no infinities, so {"float": "nan"}, {"float": "inf"}
/// and {"float": "-inf"} represent them. Throws UsageError if `value` is not a number; `what` names the value.
double real_from(const Json& value, const std::string& what);
bool is_real(const Json& value);
Json json_of(double value);

/// Returns the value that `kinds` maps the field's text to. Throws a UsageError that lists the valid texts for any
/// other text.
template <class Kind>
Kind choice_field(const Json& body, const char* name, const std::map<std::string, Kind>& kinds) {
  const auto text = text_field(body, name);
  if (const auto found = kinds.find(text); found != kinds.end()) return found->second;
  std::string valid;
  for (const auto& [word, kind] : kinds) valid += (valid.empty() ? "" : ", ") + word;
  throw UsageError(fmt::format("train.program: \"{}\" is '{}'; it must be one of: {}", name, text, valid));
}

}  // namespace trainrt::program
