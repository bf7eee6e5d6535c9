#include "metrics/record_json.hpp"

#include <nlohmann/json.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/json_number.hpp"

namespace trainrt::metrics {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(double number) { return json_of_number(number); }
Json json_of(std::int64_t number) { return number; }
Json json_of(const std::string& text) { return json_of_text(text); }

Record::Value value_of(const Json& json) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return json.get<double>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (const auto number = number_of_json(json)) return *number;
  if (json.is_string()) return text_of_json(json.get<std::string>());
  return json.dump();
}

}  // namespace

std::string to_json(const Record& record) {
  auto object = Json::object();
  if (record.find(iteration_key) == nullptr) object[std::string(iteration_key)] = record.iteration;
  for (const auto& [key, value] : record.values) object[key] = std::visit([](const auto& v) { return json_of(v); }, value);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Record> from_json(std::string_view line) {
  if (is_nested_deeper(line, max_json_depth)) return std::nullopt;
  const auto object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Record record;
  for (const auto& [key, value] : object.items()) record.values.emplace_back(key, value_of(value));
  const auto* found = record.find(iteration_key);
  const auto* iteration = found ? std::get_if<std::int64_t>(found) : nullptr;
  if (iteration == nullptr || *iteration < 1) return std::nullopt;
  record.iteration = *iteration;
  return record;
}

}  // namespace trainrt::metrics
