#include "data/records/csv_file.hpp"
#include "data/records/text_file.hpp"

namespace trainrt::data {

namespace {

bool is_delimiter(std::string_view text) {
  return text == "tab" || text == "\\t" || (text.size() == 1 && std::string_view("\"\n\r\0", 4).find(text[0]) == text.npos);
}

}  // namespace

namespace plugins {

extern const Format csv{
    .name = "csv",
    .help = "tables as text (RFC 4180), one sample per row: one field per column, or one vector of many columns",
    .options =
        {{.key = "columns", .default_value = "", .help = "names of the columns to read, between commas; all by default"},
         {.key = "types",
          .default_value = "",
          .help = "types of columns, as label:i64, x:f32, name:text; others are told from the first 10000 records",
          .form = "COLUMN:TYPE, ..."},
         {.key = "vector",
          .default_value = "",
          .help = "name of one field that all numbers become whose type is not in types: x, or x:TYPE (f32)"},
         {.key = "na",
          .default_value = "NA, NaN, null",
          .help = "words for a missing value, which is NaN among numbers; an empty value always is one"},
         {.key = "header", .type = OptionType::boolean, .default_value = "true", .help = "the first row has the names"},
         {.key = "delimiter",
          .default_value = "",
          .help = "between the values of a row; by default a comma, of .tsv files a tab",
          .form = "one character, or tab",
          .fits = is_delimiter},
         {.key = "quotes",
          .type = OptionType::boolean,
          .default_value = "true",
          .help = "values may stand in double quotes"},
         longest_record_option()},
    .look = [](const DataFile& file, const Options& options) { return look_at_csv(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_csv(file, content, options, keep); },
    .is_name_of =
        [](std::string_view path) {
          return has_ending(path, {".csv", ".tsv"});
        }};

}  // namespace plugins

}  // namespace trainrt::data
