#include "data/section/dataset_listing.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text/text.hpp"
#include "data/source/row_ranges.hpp"

namespace trainrt::data {

namespace {

using Json = nlohmann::json;

template <class Value>
Json list_of(const std::vector<Value>& values, Json (*as_json)(const Value&)) {
  auto all = Json::array();
  for (const auto& value : values) all.push_back(as_json(value));
  return all;
}

template <class Value>
std::vector<Value> list_from(const Json& json, Value (*value_of)(const Json&)) {
  std::vector<Value> values;
  for (const auto& each : json) values.push_back(value_of(each));
  return values;
}

Json json_of_file(const DataFile& file) {
  return Json::array(
      {file.path, file.size, file.mtime_ns, file.head, list_of(file.companions, json_of_file), file.version});
}

DataFile file_of(const Json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3), nullptr, list_from(json.at(4), file_of), json.at(5)};
}

Json json_of_field(const Dataset::Field& field) {
  return Json::array({field.name, name_of(field.dtype), field.sample_shape, field.varies});
}

Dataset::Field field_of(const Json& json) {
  return {json.at(0), dtype_from(json.at(1).get<std::string>()), json.at(2), json.at(3)};
}

Json json_of_range(const ChecksummedRange& range) {
  return Json::array({range.offset, range.bytes, range.crc32, range.what});
}

ChecksummedRange range_of(const Json& json) { return {json.at(0), json.at(1), json.at(2), json.at(3)}; }

}  // namespace

const Format& format_of(const Listing& listing) { return find_plugin(format_table(), listing.format, "data format"); }

std::uint64_t samples_of(const Listing& listing) {
  std::uint64_t samples = 0;
  for (const auto& entry : listing.entries) samples += entry.content.samples;
  return samples;
}

std::uint64_t bytes_of_files(const Listing& listing) {
  std::uint64_t bytes = 0;
  for (const auto& [file, content] : listing.entries) {
    bytes += file.size;
    for (const auto& companion : file.companions) bytes += companion.size;
    for (const auto& source : content.sources) bytes += source.size;
  }
  return bytes;
}

std::string in_words(const std::vector<Dataset::Field>& fields) {
  std::vector<std::string> words;
  for (const auto& field : fields)
    words.push_back(fmt::format("{} {}{}", field.name, name_of(field.dtype),
                                field.varies ? "[varies]" : to_string(field.sample_shape)));
  return join(words);
}

std::string described(const Listing& listing) {
  const bool are_files = format_of(listing).gather == nullptr && !listing.entries.front().file.path.empty();
  const auto files = are_files ? " in " + counted(std::ssize(listing.entries), "file") : "";
  const auto& content = listing.entries.front().content;
  const auto chosen = listing.rows.empty() ? "" : fmt::format("{} of ", RowRanges(listing.rows).size());
  return fmt::format("ok, {}{}{} ({}): {}{}{}", chosen, counted(static_cast<std::int64_t>(samples_of(listing)), "sample"),
                     files, listing.format, in_words(content.fields), content.remark.empty() ? "" : "; ", content.remark);
}

std::string bytes_of(const Listing& listing) {
  auto entries = Json::array();
  for (const auto& [file, content] : listing.entries)
    entries.push_back(Json::array({json_of_file(file), content.samples, content.index, content.together, content.reading,
                                   list_of(content.sources, json_of_file), list_of(content.checksums, json_of_range),
                                   content.field_order, content.remark}));
  std::string bytes;
  Json::to_cbor(Json::array({listing.format, list_of(listing.entries.front().content.fields, json_of_field),
                             std::move(entries), listing.rows, listing.files_of_sources, listing.preprocessor}),
                bytes);
  return bytes;
}

Listing listing_of(std::string_view bytes) {
  const auto json = Json::from_cbor(bytes);
  Listing listing{json.at(0), {}};
  const auto fields = list_from(json.at(1), field_of);
  for (const auto& entry : json.at(2)) {
    FileContent content{entry.at(1), fields,
                        entry.at(2), entry.at(4),
                        entry.at(3), list_from(entry.at(5), file_of),
                        entry.at(8), list_from(entry.at(6), range_of)};
    content.field_order = entry.at(7).get<std::vector<std::size_t>>();
    for (std::size_t i = 0; i < content.field_order.size(); ++i) content.fields[i] = fields.at(content.field_order[i]);
    listing.entries.push_back({file_of(entry.at(0)), std::move(content)});
  }
  listing.rows = json.at(3);
  listing.files_of_sources = json.at(4).get<std::vector<std::size_t>>();
  listing.preprocessor = json.at(5);
  return listing;
}

}  // namespace trainrt::data
