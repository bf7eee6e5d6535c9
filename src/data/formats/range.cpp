// Generates the integers from 0 on, to try train functions and operations: the value of a sample is its number.
#include <cstring>

#include <trainrt/error.hpp>

#include "data/source/format.hpp"

namespace trainrt::data {

namespace {

class RangeSource final : public Source {
 public:
  explicit RangeSource(std::uint64_t samples) : samples_(samples) {}
  std::uint64_t size() const override { return samples_; }
  bool is_resident() const override { return true; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      column.values.resize(samples.size_bytes());
      if (!samples.empty()) std::memcpy(column.values.data(), samples.data(), samples.size_bytes());
    }
  }

 private:
  std::uint64_t samples_;
  std::vector<Dataset::Field> fields_{{"id", DType::i64, {}}};
};

std::unique_ptr<Source> open_range(const DataFile&, const FileContent&, const Options& options, bool) {
  return std::make_unique<RangeSource>(static_cast<std::uint64_t>(options.integer("samples")));
}

FileContent probe_range(const DataFile& none, const Options& options) {
  const auto source = open_range(none, {}, options, true);
  return {source->size(), source->fields(), {}};
}

}  // namespace

namespace plugins {

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

}  // namespace plugins

}  // namespace trainrt::data
