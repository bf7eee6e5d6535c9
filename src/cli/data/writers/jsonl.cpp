// Writes JSON lines: an object on each line (RFC 8259).
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "cli/data/convert/row_writers.hpp"
#include "cli/data/opened_data.hpp"
#include "cli/data/value_text.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// Returns a text, which must be UTF-8, as a JSON string.
std::string json_string(std::string_view text) { return nlohmann::json(text).dump(); }

/// Position of a line, for messages.
struct LinePosition {
  std::string_view path;
  std::uint64_t line = 0;  ///< counts from 1
};

void append_json_text(std::string& text, const Dataset::Field& field, std::string_view value,
                      const LinePosition& position) {
  if (!is_utf8(value))
    throw UsageError(
        fmt::format("line {} of '{}': the text of '{}' is not UTF-8, which JSON requires: convert the texts of the source "
                    "to UTF-8, or choose other fields with --columns",
                    position.line, position.path, field.name));
  text += json_string(value);
}

void append_json_number(std::string& text, const Dataset::Field& field, const std::byte* value) {
  if (is_infinite(value, field.dtype))
    throw UsageError(
        fmt::format("'{}' has an infinite value, which JSON cannot represent: write another kind of file, or leave such "
                    "samples out with --where",
                    field.name));
  if (is_nan(value, field.dtype))
    text += "null";
  else
    append_number(text, value, field.dtype);
}

void append_json(std::string& text, const Dataset::Field& field, std::span<const std::byte> sample,
                 const LinePosition& position) {
  if (field.varies && field.dtype == DType::u8)
    return append_json_text(text, field, {reinterpret_cast<const char*>(sample.data()), sample.size()}, position);
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
      throw UsageError(fmt::format("the name '{}' is not UTF-8, which JSON requires: choose other fields with --columns",
                                   excerpt(field.name, 60)));
}

std::unique_ptr<RowWriter> open_jsonl_writer(const WriterJob& job, ResumableFile& file) {
  std::vector<std::string> names;
  for (const auto& field : job.fields) names.push_back(json_string(field.name) + ": ");
  const auto line = [fields = job.fields, names, path = file.path()](std::string& text, const RowBlock& block,
                                                                     std::uint64_t row) {
    const LinePosition position{path, block.first + row + 1};
    text += '{';
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text += (i > 0 ? ", " : "") + names[i];
      append_json(text, fields[i], sample_of(fields[i], block.columns[i], row), position);
    }
    text += "}\n";
  };
  return std::make_unique<LineWriter>(file, "", line);
}

}  // namespace

extern const DataWriter jsonl;
const DataWriter jsonl{
    .name = "jsonl",
    .extension = ".jsonl",
    .help = "an object on each line, with texts and lists of any length; arrays of several axes become flat",
    .compressions = {},
    .require = require_jsonl,
    .is_resumable = [](const WriterJob&) { return true; },
    .open = open_jsonl_writer};

}  // namespace trainrt::cli::datasets::plugins
