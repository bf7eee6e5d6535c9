#pragma once
#include <map>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "program/protocol/channel.hpp"

namespace trainrt::program {

// Fields of a message. All functions throw a UsageError that names the field if it is missing or has another type.
std::string text_field(const Json& body, const char* name);
std::string text_field(const Json& body, const char* name,
                       std::string default_value);    ///< `default_value` if it is missing
bool flag_field(const Json& body, const char* name);  ///< false if it is missing
std::int64_t number_field(const Json& body, const char* name, std::int64_t min = 0);
const Json& field(const Json& body, const char* name, Json::value_t type);
/// Returns a list of non-negative integers. `what`: the object that has the shape, for the error message.
Shape shape_field(const Json& body, const std::string& what, const char* name = "shape");

/// Returns the place in the user's code that made the call, "report() at train.py:12", or "report()" if it is unknown.
std::string call_place(const Message& message);

/// Returns the size of an array. Throws UsageError if it exceeds the address space.
std::size_t bytes_of(const Shape& shape, DType dtype, const std::string& what);

/// Converts a number from JSON. NaN and the infinities, which JSON lacks, are {"float": "nan" | "inf" | "-inf"}. Throws
/// UsageError for other values.
double real_from(const Json& value, const std::string& what);
bool is_real(const Json& value);
Json json_of(double value);

/// Returns the value that `kinds` assigns to the text of a field. Throws UsageError for other texts.
template <class Kind>
Kind choice_field(const Json& body, const char* name, const std::map<std::string, Kind>& kinds) {
  const auto text = text_field(body, name);
  if (const auto found = kinds.find(text); found != kinds.end()) return found->second;
  std::string valid;
  for (const auto& [word, kind] : kinds) valid += (valid.empty() ? "" : ", ") + word;
  throw UsageError(fmt::format("train.program: \"{}\" is '{}'; it must be one of: {}", name, text, valid));
}

}  // namespace trainrt::program
