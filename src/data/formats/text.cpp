#include "data/records/record_formats.hpp"

namespace trainrt::data::plugins {

extern const Format text{
    .name = "text",
    .help = "text files, one sample per line; the field text is the line without its line break",
    .options = {{.key = "drop_empty_lines",
                 .type = OptionType::boolean,
                 .default_value = "true",
                 .help = "whether empty lines are left out"},
                max_record_bytes_option()},
    .probe = [](const DataFile& file, const Options& options) { return probe_text_lines(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_text_lines(file, content, options, keep); },
    .is_name_of = [](std::string_view path) { return has_ending(path, {".txt"}); }};

}  // namespace trainrt::data::plugins
