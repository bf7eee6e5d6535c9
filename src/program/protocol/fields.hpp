#pragma once
#include <map>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "program/protocol/channel.hpp"

namespace trainrt::program {

/// Fields of a message. A missing one, or one of another type, throws UsageError that names it.
std::string text_field(const Json& body, const char* name);
std::string text_field(const Json& body, const char* name, std::string otherwise);  ///< if it is missing
/// The line of the program that made the call, "report() at train.py:12"; "report()" if the client does not say it.
std::string call_place(const Message& message);
bool flag_field(const Json& body, const char* name);  ///< false if it is missing
std::int64_t number_field(const Json& body, const char* name, std::int64_t least = 0);
const Json& field(const Json& body, const char* name, Json::value_t type);
/// A list of whole numbers, "shape" if it has no other name, of what messages call so.
Shape shape_field(const Json& body, const std::string& what, const char* name = "shape");
/// UsageError if no memory could hold it.
std::size_t bytes_of(const Shape& shape, DType dtype, const std::string& what);

/// A number as JSON has it; {"float": "nan" | "inf" | "-inf"} for those that it lacks. UsageError for anything else.
double real_from(const Json& value, const std::string& what);
bool is_real(const Json& value);
Json json_of(double value);

/// What a text stands for.
template <class Kind>
Kind choice_field(const Json& body, const char* name, const std::map<std::string, Kind>& kinds) {
  const auto text = text_field(body, name);
  if (const auto found = kinds.find(text); found != kinds.end()) return found->second;
  std::string valid;
  for (const auto& [word, kind] : kinds) valid += (valid.empty() ? "" : ", ") + word;
  throw UsageError(fmt::format("train.program: \"{}\" is '{}'; it must be one of: {}", name, text, valid));
}

}  // namespace trainrt::program
