// Generates the integers from 0 on as samples, so that train functions and operations can be tried without a file.
#include <cstring>

#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

std::unique_ptr<Source> open_range(const DataFile&, const FileContent&, const Options& options, bool) {
  auto source = std::make_unique<RowSource>(static_cast<std::uint64_t>(options.integer("samples")));
  const auto read = [](std::span<const std::uint64_t> samples, std::byte* out) {
    if (!samples.empty()) std::memcpy(out, samples.data(), samples.size_bytes());
  };
  source->add({"id", DType::i64, {}}, RowReader{read, true});
  return source;
}

FileContent probe_range(const DataFile& none, const Options& options) {
  const auto source = open_range(none, {}, options, true);
  return {source->size(), source->fields(), {}};
}

}  // namespace

extern const Format range{.name = "range",
                          .help = "numbers from 0 to samples - 1, without a file: field id",
                          .options = {{.key = "samples",
                                       .type = OptionType::integer,
                                       .default_value = "1000",
                                       .help = "number of samples",
                                       .range = {.least = 1, .most = 0x1p62}}},
                          .probe = probe_range,
                          .open = open_range,
                          .has_files = false};

}  // namespace trainrt::data::plugins
