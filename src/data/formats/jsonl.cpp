#include "data/records/record_formats.hpp"

namespace trainrt::data::plugins {

extern const Format jsonl{
    .name = "jsonl",
    .help = "JSON lines, one object per line; each key is a field of numbers, texts, or arrays of numbers",
    .options = {{.key = "columns",
                 .default_value = "",
                 .help = "comma-separated names of the keys to read; empty: all keys of the first 10000 objects"},
                {.key = "types",
                 .default_value = "",
                 .help = "types of keys, for example label:i32, x:f32; "
                         "other types are inferred from the first 10000 objects (at most 64 MiB)",
                 .form = "KEY:TYPE, ..."},
                max_record_bytes_option()},
    .probe = [](const DataFile& file, const Options& options) { return probe_json_lines(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options&,
               bool keep) { return open_json_lines(file, content, keep); },
    .is_name_of =
        [](std::string_view path) {
          return has_ending(path, {".jsonl", ".ndjson"});
        }};

}  // namespace trainrt::data::plugins
