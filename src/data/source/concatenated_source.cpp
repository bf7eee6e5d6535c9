#include "data/source/concatenated_source.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace trainrt::data {

namespace {

/// The requested samples that are in one part (one of the concatenated sources), and their values.
struct PartRequest {
  std::vector<std::uint64_t> samples;  ///< indices of the samples in the part
  std::vector<Column> columns;
};

/// Refers to one sample of a request: sample `index` of `part`.
struct RequestedSample {
  const PartRequest* part;
  std::size_t index;
};

/// Fills `column` with the values of `samples`, which were read from all parts. `number` is the index of the column in
/// PartRequest::columns.
void collect(std::span<const RequestedSample> samples, std::size_t number, const Dataset::Field& field, Column& column) {
  if (field.varies) {
    column.clear();
    for (const auto& [part, index] : samples) column.append(part->columns[number].varying(index));
    return;
  }
  const auto bytes = sample_bytes(field);
  column.values.resize(samples.size() * bytes);
  for (std::size_t i = 0; bytes > 0 && i < samples.size(); ++i)
    std::memcpy(column.values.data() + i * bytes, samples[i].part->columns[number].values.data() + samples[i].index * bytes,
                bytes);
}

}  // namespace

ConcatenatedSource::ConcatenatedSource(std::vector<Dataset::Field> fields, const std::vector<std::uint64_t>& sizes,
                                       Open open, bool keep)
    : fields_(std::move(fields)),
      ends_(sizes.size()),
      keep_(keep),
      parts_(sizes.size(), std::move(open), keep ? sizes.size() : max_open) {
  std::partial_sum(sizes.begin(), sizes.end(), ends_.begin());
}

std::size_t ConcatenatedSource::part_of(std::uint64_t sample) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
}

bool ConcatenatedSource::is_resident() const {
  return keep_ && parts_.all_open([](const Source& part) { return part.is_resident(); });
}

void ConcatenatedSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  std::map<std::size_t, PartRequest> parts;
  std::vector<RequestedSample> requested;
  requested.reserve(samples.size());
  std::uint64_t begin = 0, end = 0;  // range of the part that contains the last sample
  PartRequest* request = nullptr;
  for (const auto sample : samples) {
    if (sample < begin || sample >= end) {
      const auto part = part_of(sample);
      begin = begin_of(part);
      end = ends_[part];
      request = &parts[part];
    }
    requested.push_back({request, request->samples.size()});
    request->samples.push_back(sample - begin);
  }
  if (parts.size() == 1) return parts_.get(parts.begin()->first)->read(request->samples, columns);
  for (auto& [number, part] : parts) {
    for (const auto& column : columns) part.columns.push_back({column.field, {}, {}});
    parts_.get(number)->read(part.samples, part.columns);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) collect(requested, i, fields_[columns[i].field], columns[i]);
}

}  // namespace trainrt::data
