#include "data/batches/field_walk.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "data/source/samples_at_once.hpp"

namespace trainrt::data {

TensorView sample_view(const Dataset::Field& field) {
  return {nullptr, field.dtype, field.varies ? Shape{0} : field.sample_shape};
}

void show(TensorView& view, Column& column, const Dataset::Field& field, std::size_t i) {
  auto first = field.varies ? 0 : i * sample_bytes(field);
  if (field.varies) {
    first = i == 0 ? 0 : column.ends[i - 1];
    view.shape[0] = static_cast<std::int64_t>((column.ends[i] - first) / size_of(field.dtype));
  }
  view.data = column.values.data() + first;
}

FieldWalk::FieldWalk(const DatasetImpl& dataset, const std::vector<std::size_t>& fields, std::string who)
    : dataset_(dataset), who_(std::move(who)), told_at_s_(monotonic_seconds()) {
  for (const auto field : fields) {
    columns_.push_back({field, {}, {}});
    values_.push_back(sample_view(dataset.source->fields()[field]));
  }
}

void FieldWalk::walk(std::uint64_t first, std::uint64_t end,
                     const std::function<void(std::uint64_t, std::span<const TensorView>)>& see) {
  constexpr std::uint64_t bytes_at_once = 4 << 20, most = 1 << 16;
  const auto& fields = dataset_.source->fields();
  std::uint64_t fixed = 0;
  bool varies = false;
  for (const auto& column : columns_) {
    varies = varies || fields[column.field].varies;
    if (!fields[column.field].varies) fixed += sample_bytes(fields[column.field]);
  }
  SamplesAtOnce at_once(bytes_at_once, fixed, varies, most);
  for (auto at = first; at < end;) {
    samples_.resize(std::min(at_once.count(), end - at));
    std::iota(samples_.begin(), samples_.end(), at);
    at += samples_.size();
    read();
    at_once.saw(samples_.size(), bytes_read());
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      for (std::size_t k = 0; k < columns_.size(); ++k) show(values_[k], columns_[k], fields[columns_[k].field], i);
      see(samples_[i], values_);
    }
    tell(at - first, end - first);
  }
}

void FieldWalk::read() {
  if (dataset_.skipping)
    dataset_.skipping->read_if_any(*dataset_.source, samples_, columns_);
  else
    dataset_.source->read(samples_, columns_);
}

std::uint64_t FieldWalk::bytes_read() const {
  std::uint64_t bytes = 0;
  for (const auto& column : columns_) bytes += column.values.size();
  return bytes;
}

/// A line a minute.
void FieldWalk::tell(std::uint64_t done, std::uint64_t all) {
  constexpr double pause_s = 60;
  const auto now_s = monotonic_seconds();
  if (now_s - told_at_s_ < pause_s) return;
  told_at_s_ = now_s;
  log::info(fmt::format("dataset '{}': {} has looked at {} of {} samples", dataset_.name, who_, done, all));
}

std::pair<std::uint64_t, std::uint64_t> part_of_team(std::uint64_t count, const Team& team) {
  const auto size = static_cast<std::uint64_t>(team.size), rank = static_cast<std::uint64_t>(team.rank);
  const auto each = count / size, more = count % size;
  const auto first = rank * each + std::min(rank, more);
  return {first, first + each + (rank < more ? 1 : 0)};
}

std::vector<std::int64_t> seen_together(const DatasetImpl& dataset, std::size_t field, const std::string& who,
                                        const std::function<std::int64_t(const TensorView&)>& see) {
  std::vector<std::int64_t> numbers(dataset.source->size());
  const auto [first, end] = part_of_team(numbers.size(), dataset.team);
  dataset.team.look_together(
      [&, first = first, end = end] {
        FieldWalk(dataset, {field}, who).walk(first, end, [&](std::uint64_t sample, std::span<const TensorView> values) {
          numbers[sample] = see(values.front());
        });
      },
      numbers);
  return numbers;
}

void require_not_walked(const DatasetImpl& dataset, std::string_view call) {
  if (dataset.cursor.in_progress && !dataset.restored)
    throw UsageError(fmt::format("{} while batches of it are being walked; call it before the first epoch", call));
}

void follow_source(DatasetImpl& dataset) {
  if (dataset.maps) dataset.maps = std::make_shared<const SampleMaps>(dataset.maps->over(dataset.source->fields()));
}

}  // namespace trainrt::data
