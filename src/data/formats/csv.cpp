#include "data/records/record_formats.hpp"

namespace trainrt::data::plugins {

namespace {

bool is_delimiter(std::string_view text) {
  return text == "tab" || text == "\\t" || (text.size() == 1 && std::string_view("\"\n\r\0", 4).find(text[0]) == text.npos);
}

}  // namespace

extern const Format csv{
    .name = "csv",
    .help = "tables as text (RFC 4180), one sample per row; each column is a field, or several columns are one vector",
    .options = {{.key = "columns",
                 .default_value = "",
                 .help = "comma-separated names of the columns to read; empty: all columns"},
                {.key = "types",
                 .default_value = "",
                 .help = "types of columns, for example label:i64, x:f32, name:text; "
                         "other types are inferred from the first 10000 records (at most 64 MiB)",
                 .form = "COLUMN:TYPE, ..."},
                {.key = "vector",
                 .default_value = "",
                 .help = "name of a field that combines all columns of numbers that the key 'types' does not name: "
                         "x, or x:TYPE (default f32)"},
                {.key = "na",
                 .default_value = "NA, NaN, null",
                 .help = "comma-separated words for a missing value, which is read as NaN in columns of numbers; "
                         "an empty value is always missing"},
                {.key = "header",
                 .type = OptionType::boolean,
                 .default_value = "true",
                 .help = "whether the first row contains the names of the columns"},
                {.key = "delimiter",
                 .default_value = "",
                 .help = "character that separates the values of a row; by default a comma, in .tsv files a tab",
                 .form = "one character, or tab",
                 .fits = is_delimiter},
                {.key = "quotes",
                 .type = OptionType::boolean,
                 .default_value = "true",
                 .help = "whether values may be in double quotes"},
                max_record_bytes_option()},
    .probe = [](const DataFile& file, const Options& options) { return probe_csv(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_csv(file, content, options, keep); },
    .is_name_of =
        [](std::string_view path) {
          return has_ending(path, {".csv", ".tsv"});
        }};

}  // namespace trainrt::data::plugins
