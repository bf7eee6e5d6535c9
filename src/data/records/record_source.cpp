#include "data/records/record_source.hpp"

#include <algorithm>

#include "data/bytes/stage_clock.hpp"

namespace trainrt::data {

namespace {

bool ascends(std::span<const std::uint64_t> numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), [](auto a, auto b) { return a >= b; }) == numbers.end();
}

}  // namespace

RecordSource::RecordSource(std::shared_ptr<const RecordFile> records, std::vector<Dataset::Field> fields,
                           RecordDecoder decoder, bool keep)
    : records_(std::move(records)), fields_(std::move(fields)), decoder_(std::move(decoder)) {
  if (keep) kept_ = first(size());
}

RecordFile::Take RecordSource::begin(std::uint64_t samples, std::span<Column> columns) const {
  for (auto& column : columns) {
    column.clear();
    const auto& field = fields_[column.field];
    if (!field.varies) column.values.resize(samples * sample_bytes(field));
  }
  return decoder_(columns);
}

std::vector<Column> RecordSource::first(std::uint64_t samples) const {
  std::vector<Column> columns(fields_.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].field = i;
  records_->read_first(samples, begin(samples, columns));
  return columns;
}

void RecordSource::read_ascending(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  const InStage decoding(Stage::decode);
  records_->read(samples, begin(samples.size(), columns));
}

void RecordSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  if (is_resident()) {
    for (auto& column : columns) copy_samples(kept_[column.field], fields_[column.field], samples, column);
    return;
  }
  if (ascends(samples)) return read_ascending(samples, columns);
  // Reads each sample once and in the order of the file, so that neighbouring samples are read together.
  std::vector<std::uint64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint64_t> indices;
  for (const auto sample : samples)
    indices.push_back(static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), sample) - sorted.begin()));
  std::vector<Column> found;
  for (const auto& column : columns) found.push_back({column.field, {}, {}});
  read_ascending(sorted, found);
  for (std::size_t i = 0; i < columns.size(); ++i) copy_samples(found[i], fields_[columns[i].field], indices, columns[i]);
}

}  // namespace trainrt::data
