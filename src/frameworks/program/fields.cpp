#include "frameworks/program/fields.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::program {

namespace {

[[noreturn]] void refuse(const Json& body, const char* name, const std::string& wanted) {
  const auto op = body.contains("op") && body["op"].is_string() ? body["op"].get<std::string>() : std::string("...");
  throw UsageError(fmt::format("train.program: the program's message '{}': \"{}\" must be {}", op, name, wanted));
}

}  // namespace

const Json& field(const Json& body, const char* name, Json::value_t type) {
  const auto found = body.find(name);
  if (found == body.end() || found->type() != type)
    refuse(body, name, type == Json::value_t::array ? "a list" : "an object");
  return *found;
}

std::string text_field(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_string()) refuse(body, name, "a text");
  return found->get<std::string>();
}

std::int64_t number_field(const Json& body, const char* name, std::int64_t least) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_integer() || found->get<std::int64_t>() < least)
    refuse(body, name, fmt::format("a whole number, {} or more", least));
  return found->get<std::int64_t>();
}

bool is_real(const Json& value) {
  return value.is_number() || (value.is_object() && value.contains("float") && value["float"].is_string());
}

double real_from(const Json& value, const std::string& what) {
  if (value.is_number()) return value.get<double>();
  if (is_real(value)) return std::strtod(value["float"].get<std::string>().c_str(), nullptr);
  throw UsageError(fmt::format("train.program: {} must be a number", what));
}

Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return {{"float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

}  // namespace trainrt::program
