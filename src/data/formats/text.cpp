#include "data/records/text_file.hpp"
#include "data/records/text_lines.hpp"

namespace trainrt::data::plugins {

extern const Format text{
    .name = "text",
    .help = "text files, one sample per line: field text, without the line break",
    .options = {{.key = "drop_empty_lines",
                 .type = OptionType::boolean,
                 .default_value = "true",
                 .help = "empty lines are no samples"},
                longest_record_option()},
    .look = [](const DataFile& file, const Options& options) { return look_at_text_lines(file, options, {}); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_text_lines(file, content, options, keep); },
    .is_name_of = [](std::string_view path) { return has_ending(path, {".txt"}); }};

}  // namespace trainrt::data::plugins
