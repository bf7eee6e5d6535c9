#pragma once
#include <string>

#include "frameworks/program/channel.hpp"

namespace trainrt::program {

/// Fields of a message. A missing one, or one of another type, throws UsageError that names it.
std::string text_field(const Json& body, const char* name);
std::string text_field(const Json& body, const char* name, std::string otherwise);  ///< where it is missing
bool flag_field(const Json& body, const char* name);                                ///< false where it is missing
std::int64_t number_field(const Json& body, const char* name, std::int64_t least = 0);
const Json& field(const Json& body, const char* name, Json::value_t type);

/// A number as JSON has it; {"float": "nan" | "inf" | "-inf"} for those that it lacks. UsageError for anything else.
double real_from(const Json& value, const std::string& what);
bool is_real(const Json& value);
Json json_of(double value);

}  // namespace trainrt::program
