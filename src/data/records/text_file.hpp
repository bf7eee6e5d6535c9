#pragma once
#include <memory>

#include "core/options.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Opens a file that is to hold plain text. Throws UsageError that says how to unpack it if it is compressed.
std::shared_ptr<const InputFile> open_text_file(const DataFile& file);

/// Whether a name has one of these endings, alone or with .gz behind it: what is compressed is refused by its format.
bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings);

/// The key that bounds what a broken file can make a record of.
OptionSpec max_record_bytes_option();

}  // namespace trainrt::data
