// An object a line (RFC 8259).
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "cli/datasets/opened_data.hpp"
#include "cli/datasets/convert/text_rows.hpp"
#include "cli/datasets/value_text.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// Of well-formed UTF-8.
std::string json_word(std::string_view text) { return nlohmann::json(text).dump(); }

/// Where a line is written: for messages.
struct Place {
  std::string_view path;
  std::uint64_t line = 0;  ///< from 1 on
};

void append_json_text(std::string& text, const Dataset::Field& field, std::string_view value, const Place& place) {
  if (!is_utf8(value))
    throw UsageError(
        fmt::format("line {} of '{}': the text of '{}' is no UTF-8, and JSON holds no other: convert the texts of the "
                    "source to UTF-8, or leave the field out (--columns names the others)",
                    place.line, place.path, field.name));
  text += json_word(value);
}

void append_json_number(std::string& text, const Dataset::Field& field, const std::byte* value) {
  if (is_infinite(value, field.dtype))
    throw UsageError(
        fmt::format("'{}' holds an infinite value, for which JSON has no word: write another kind of file, or "
                    "leave such samples out (--where)",
                    field.name));
  if (is_nan(value, field.dtype))
    text += "null";
  else
    append_number(text, value, field.dtype);
}

void append_json(std::string& text, const Dataset::Field& field, std::span<const std::byte> sample, const Place& place) {
  if (field.varies && field.dtype == DType::u8)
    return append_json_text(text, field, {reinterpret_cast<const char*>(sample.data()), sample.size()}, place);
  if (!field.varies && field.sample_shape.empty()) return append_json_number(text, field, sample.data());
  text += '[';
  for (std::size_t at = 0; at < sample.size(); at += size_of(field.dtype)) {
    if (at > 0) text += ", ";
    append_json_number(text, field, sample.data() + at);
  }
  text += ']';
}

void require_jsonl(const WriterJob& job) {
  for (const auto& field : job.fields)
    if (!is_utf8(field.name))
      throw UsageError(
          fmt::format("'{}' cannot be a name in JSON, for it is no UTF-8: leave it out (--columns names the others)",
                      excerpt(field.name, 60)));
}

std::unique_ptr<RowWriter> open_jsonl_writer(const WriterJob& job, ResumableFile& file) {
  std::vector<std::string> names;
  for (const auto& field : job.fields) names.push_back(json_word(field.name) + ": ");
  const auto line = [fields = job.fields, names, path = file.path()](std::string& text, const RowBlock& block,
                                                                     std::uint64_t row) {
    const Place place{path, block.first + row + 1};
    text += '{';
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text += (i > 0 ? ", " : "") + names[i];
      append_json(text, fields[i], sample_of(fields[i], block.columns[i], row), place);
    }
    text += "}\n";
  };
  return std::make_unique<TextRows>(file, "", line);
}

}  // namespace

extern const DataWriter jsonl;
const DataWriter jsonl{.name = "jsonl",
                       .extension = ".jsonl",
                       .help = "an object a line, with texts and lists of any length; arrays of several axes become flat",
                       .compressions = {},
                       .require = require_jsonl,
                       .goes_on = [](const WriterJob&) { return true; },
                       .open = open_jsonl_writer};

}  // namespace trainrt::cli::datasets::plugins
