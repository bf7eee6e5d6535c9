#include "data/records/json_lines.hpp"
#include "data/records/text_file.hpp"

namespace trainrt::data::plugins {

extern const Format jsonl{
    .name = "jsonl",
    .help = "JSON lines, one object per line: one field per key, of numbers, texts or arrays of numbers",
    .options = {{.key = "columns",
                 .default_value = "",
                 .help = "names of the keys to read, between commas; by default those of the first object"},
                {.key = "types",
                 .default_value = "",
                 .help = "types of keys, as label:i32, x:f32; others are told from the first 10000 objects",
                 .form = "KEY:TYPE, ..."},
                longest_record_option()},
    .look = [](const DataFile& file, const Options& options) { return look_at_json_lines(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options&,
               bool keep) { return open_json_lines(file, content, keep); },
    .is_name_of =
        [](std::string_view path) {
          return has_ending(path, {".jsonl", ".ndjson"});
        }};

}  // namespace trainrt::data::plugins
