#include "data/records/text_file.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

struct Packing {
  std::string_view name, magic, command;
};

constexpr std::array<Packing, 4> packings = {{{"gzip", "\x1f\x8b\x08", "gunzip -k"},
                                              {"zstd", "\x28\xb5\x2f\xfd", "unzstd"},
                                              {"xz", "\xfd\x37\x7a\x58", "unxz -k"},
                                              {"bzip2", "BZh9", "bunzip2 -k"}}};

}  // namespace

std::shared_ptr<const InputFile> open_text_file(const DataFile& file) {
  auto input = std::make_shared<const InputFile>(file);
  std::array<char, 4> first{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), file.size));
  input->read(0, std::as_writable_bytes(std::span(first.data(), count)));
  for (const auto& packing : packings)
    if (std::string_view(first.data(), count).starts_with(packing.magic))
      throw UsageError(
          fmt::format("'{}' is compressed ({}), but records are read from any position of a file; unpack it first: {}",
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
          .help = "maximum length of a record; a longer one is an error, since a quote or a line break is probably missing"};
}

}  // namespace trainrt::data
