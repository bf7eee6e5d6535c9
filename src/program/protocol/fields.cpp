#include "program/protocol/fields.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

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
  if (found == body.end() || !found->is_string()) refuse(body, name, "a string");
  return found->get<std::string>();
}

std::string text_field(const Json& body, const char* name, std::string default_value) {
  return body.contains(name) ? text_field(body, name) : std::move(default_value);
}

std::string call_place(const Message& message) {
  const auto stage = text_field(message.body, "stage", "");
  const auto place = excerpt(join(printable_lines(text_field(message.body, "place", stage)), " "));
  return place.empty() ? message.op + "()" : place;
}

bool flag_field(const Json& body, const char* name) {
  if (!body.contains(name)) return false;
  if (!body[name].is_boolean()) refuse(body, name, "true or false");
  return body[name].get<bool>();
}

std::int64_t number_field(const Json& body, const char* name, std::int64_t min) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_integer() || found->get<std::int64_t>() < min)
    refuse(body, name, fmt::format("an integer, {} or more", min));
  return found->get<std::int64_t>();
}

namespace {

/// Returns the NaN or infinity that `value` represents as {"float": ...}, or nothing for any other `value`.
std::optional<double> not_finite(const Json& value) {
  if (!value.is_object() || !value.contains("float")) return std::nullopt;
  if (value["float"] == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value["float"] == "inf") return std::numeric_limits<double>::infinity();
  if (value["float"] == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

bool is_real(const Json& value) { return value.is_number() || not_finite(value); }

Shape shape_field(const Json& body, const std::string& what, const char* name) {
  Shape shape;
  for (const auto& extent : field(body, name, Json::value_t::array)) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0)
      throw UsageError(fmt::format("train.program: the {} of {} must be a list of non-negative integers", name, what));
    shape.push_back(extent.get<std::int64_t>());
  }
  return shape;
}

std::size_t bytes_of(const Shape& shape, DType dtype, const std::string& what) {
  std::size_t bytes = size_of(dtype);
  for (const auto extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      throw UsageError(fmt::format("train.program: the {} of shape {} is too large", what, to_string(shape)));
  return bytes;
}

double real_from(const Json& value, const std::string& what) {
  if (value.is_number()) return value.get<double>();
  if (const auto number = not_finite(value)) return *number;
  throw UsageError(fmt::format(R"(train.program: {} must be a number, or {{"float": "nan" | "inf" | "-inf"}})", what));
}

Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return {{"float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

}  // namespace trainrt::program
