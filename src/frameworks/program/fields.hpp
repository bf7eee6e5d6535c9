#pragma once
#include <string>

#include <trainrt/tensor.hpp>

#include "frameworks/program/channel.hpp"

namespace trainrt::program {

/// Fields of a message. A missing one, or one of another type, throws UsageError that names it.
std::string text_field(const Json& body, const char* name);
std::string text_field(const Json& body, const char* name, std::string otherwise);  ///< if it is missing
bool flag_field(const Json& body, const char* name);                                ///< false if it is missing
std::int64_t number_field(const Json& body, const char* name, std::int64_t least = 0);
const Json& field(const Json& body, const char* name, Json::value_t type);
Shape shape_field(const Json& body, const std::string& what);  ///< "shape", of what messages call so
/// UsageError if no memory could hold it.
std::size_t bytes_of(const Shape& shape, DType dtype, const std::string& what);

/// A number as JSON has it; {"float": "nan" | "inf" | "-inf"} for those that it lacks. UsageError for anything else.
double real_from(const Json& value, const std::string& what);
bool is_real(const Json& value);
Json json_of(double value);

}  // namespace trainrt::program
