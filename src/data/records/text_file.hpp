#pragma once
#include <memory>

#include "core/options.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Opens a text file. Throws UsageError if the file is compressed. The message contains the command that decompresses
/// it.
std::shared_ptr<const InputFile> open_text_file(const DataFile& file);

/// Returns whether a path has one of the endings. A further `.gz` may follow the ending; the format then refuses the
/// compressed file with a message.
bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings);

/// Returns the key `max_record_bytes`, which limits the memory that a damaged file can use.
OptionSpec max_record_bytes_option();

}  // namespace trainrt::data
