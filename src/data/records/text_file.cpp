#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/packed.hpp"
#include "data/records/record_formats.hpp"

namespace trainrt::data {

namespace {

struct Packing {
  std::string_view name, magic, command;
};

constexpr std::array<Packing, 4> packings = {{{"gzip", "\x1f\x8b\x08", "gunzip -k"},
                                              {"zstd", "\x28\xb5\x2f\xfd", "unzstd"},
                                              {"xz", "\xfd\x37\x7a\x58", "unxz -k"},
                                              {"bzip2", "BZh9", "bunzip2 -k"}}};

/// Implements RecordDecoder: returns a decoder that appends each line to all requested columns (there is only one field).
RecordFile::Take copy_lines(std::span<Column> columns) {
  return [columns](const Record& record, std::size_t) {
    for (auto& column : columns) column.append(std::as_bytes(std::span(record.text)));
  };
}

}  // namespace

std::shared_ptr<const InputFile> open_text_file(const DataFile& file) {
  auto input = std::make_shared<const InputFile>(file);
  std::array<char, 4> first{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), file.size));
  input->read(0, std::as_writable_bytes(std::span(first.data(), count)));
  for (const auto& packing : packings)
    if (std::string_view(first.data(), count).starts_with(packing.magic))
      throw UsageError(
          fmt::format("'{}' is compressed ({}), so its records cannot be read in any order. Decompress it first: {}",
                      file.path, packing.name, packing.command));
  return input;
}

bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return path.ends_with(ending); });
}

OptionSpec max_record_bytes_option() {
  return {.key = "max_record_bytes",
          .type = OptionType::bytes,
          .default_value = "16 MiB",
          .help =
              "maximum length of a record; "
              "a longer record is an error, because a quote or a line break is probably missing"};
}

FileContent probe_text_lines(const DataFile& file, const Options& options, const RecordLimits& limits) {
  const auto scan =
      scan_rows(*open_text_file(file),
                {.skip_empty = options.boolean("drop_empty_lines"), .max_row_bytes = options.bytes("max_record_bytes")},
                limits.spacing);
  if (scan.index.records() == 0) throw UsageError(fmt::format("'{}' has no lines", file.path));
  return {scan.index.records(), {{"text", DType::u8, {}, true}}, packed(scan.index)};
}

std::unique_ptr<Source> open_text_lines(const DataFile& file, const FileContent& content, const Options& options,
                                        bool keep) {
  auto records = std::make_shared<RecordFile>(open_text_file(file), unpacked<RecordIndex>(content.index), false,
                                              options.boolean("drop_empty_lines"));
  return std::make_unique<RecordSource>(std::move(records), content.fields, copy_lines, keep);
}

}  // namespace trainrt::data
