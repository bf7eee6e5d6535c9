#include <nlohmann/json.hpp>

#include "cli/data/inspect/inspection.hpp"
#include "cli/data/value_text.hpp"
#include "core/text/json_number.hpp"

namespace trainrt::cli::datasets {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_values = 32;  // maximum number of distinct values to list

Json number_json(const std::optional<TensorStatistics::Number>& number) {
  if (!number) return {};
  if (const auto* whole = std::get_if<std::int64_t>(&*number)) return *whole;
  return json_of_number(std::get<double>(*number));
}

Json statistics_json(const TensorStatistics& found) {
  return {{"count", found.count},
          {"min", number_json(found.min)},
          {"max", number_json(found.max)},
          {"mean", found.mean ? json_of_number(*found.mean) : Json()},
          {"std", found.deviation ? json_of_number(*found.deviation) : Json()},
          {"nan", found.nan},
          {"infinite", found.infinite},
          {"zero", found.zero}};
}

Json sample_json(const Dataset::Field& field, std::span<const std::byte> sample) {
  const auto number_at = [&](const std::byte* at) -> Json {
    if (is_nan(at, field.dtype)) return {};
    if (is_infinite(at, field.dtype))
      return *sample_text({"", field.dtype, {}}, {at, size_of(field.dtype)}, 9).data() == '-' ? "-Infinity" : "Infinity";
    std::string text;
    append_number(text, at, field.dtype);
    return Json::parse(text);
  };
  if (field.varies && field.dtype == DType::u8)
    return std::string(reinterpret_cast<const char*>(sample.data()), sample.size());
  if (!field.varies && field.sample_shape.empty()) return number_at(sample.data());
  auto values = Json::array();
  for (std::size_t at = 0; at < sample.size(); at += size_of(field.dtype)) values.push_back(number_at(sample.data() + at));
  return values;
}

Json distinct_json(const FieldStatistics& found) {
  if (!found.distinct()) return {};
  const auto& distinct = *found.distinct();
  if (!distinct.is_complete()) return {{"more_than", DistinctValues::max}};
  Json json = {{"count", distinct.count()}};
  if (distinct.count() > max_values) return json;
  json["values"] = Json::array();
  for (const auto& [value, times] : distinct.by_frequency())
    json["values"].push_back({sample_json(found.field(), std::as_bytes(std::span(value))), times});
  return json;
}

Json field_json(const FieldStatistics& found) {
  const auto& field = found.field();
  Json json = {{"name", field.name},
               {"dtype", name_of(field.dtype)},
               {"shape", field.sample_shape},
               {"varies", field.varies},
               {"samples", found.samples()}};
  if (const auto elements = found.elements()) json["statistics"] = statistics_json(*elements);
  if (const auto lengths = found.lengths()) json["lengths"] = statistics_json(*lengths);
  if (field.varies) json["empty"] = found.empty();
  json["distinct"] = distinct_json(found);
  return json;
}

Json reading_json(const ReadingFacts& facts) {
  return {{"ranks", facts.ranks},
          {"samples_a_rank", facts.samples_per_rank},
          {"bytes_a_rank", facts.samples_per_rank * facts.sample_bytes},
          {"memory", facts.memory},
          {"kept_in_memory", facts.is_kept},
          {"read", unit_in_words(facts)},
          {"together", facts.together},
          {"advice", advice_for(facts)}};
}

}  // namespace

std::string json_text(const Inspection& inspection) {
  const auto& listing = inspection.opened.listing;
  Json files = Json::array(), fields = Json::array(), first = Json::array();
  for (const auto& entry : listing.entries)
    files.push_back({{"path", entry.file.path}, {"bytes", entry.file.size}, {"samples", entry.content.samples}});
  for (const auto& found : inspection.statistics) fields.push_back(field_json(found));
  for (std::uint64_t i = 0; i < inspection.shown; ++i) {
    Json sample = Json::object();
    for (const auto& column : inspection.first.columns) {
      const auto& field = inspection.opened.fields()[column.field];
      sample[field.name] = sample_json(field, sample_of(field, column, i));
    }
    first.push_back(std::move(sample));
  }
  const auto checksums = find_plugin(data::format_table(), listing.format, "data format").checksums;
  const Json json = {{"format", listing.format},
                     {"checksums", checksums.empty() ? Json() : Json(checksums)},
                     {"samples", inspection.opened.size()},
                     {"bytes", inspection.facts.file_bytes},
                     {"sample_bytes", inspection.facts.sample_bytes},
                     {"files", std::move(files)},
                     {"looked_at", inspection.scanned},
                     {"fields", std::move(fields)},
                     {"first", std::move(first)},
                     {"reading", reading_json(inspection.facts)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trainrt::cli::datasets
