#include "data/field_walk.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/log.hpp"
#include "data/samples_at_once.hpp"

namespace trainrt::data {

FieldWalk::FieldWalk(const DatasetImpl& dataset, std::size_t field, std::string who)
    : dataset_(dataset), field_(dataset.source->fields()[field]), who_(std::move(who)), told_at_s_(monotonic_seconds()) {
  column_.field = field;
  sample_.dtype = field_.dtype;
  sample_.shape = field_.varies ? Shape{0} : field_.sample_shape;
}

void FieldWalk::walk(std::uint64_t first, std::uint64_t end,
                     const std::function<void(std::uint64_t, const TensorView&)>& see) {
  constexpr std::uint64_t bytes_at_once = 4 << 20, most = 1 << 16;
  SamplesAtOnce at_once(bytes_at_once, field_.varies ? 0 : sample_bytes(field_), field_.varies, most);
  for (auto at = first; at < end;) {
    samples_.resize(std::min(at_once.count(), end - at));
    std::iota(samples_.begin(), samples_.end(), at);
    at += samples_.size();
    read();
    at_once.saw(samples_.size(), column_.values.size());
    for (std::size_t i = 0; i < samples_.size(); ++i) see(samples_[i], value(i));
    tell(at - first, end - first);
  }
}

void FieldWalk::read() {
  if (dataset_.skipping)
    dataset_.skipping->read_if_any(*dataset_.source, samples_, {&column_, 1});
  else
    dataset_.source->read(samples_, {&column_, 1});
}

const TensorView& FieldWalk::value(std::size_t i) {
  auto first = field_.varies ? 0 : i * sample_bytes(field_);
  if (field_.varies) {
    first = i == 0 ? 0 : column_.ends[i - 1];
    sample_.shape[0] = static_cast<std::int64_t>((column_.ends[i] - first) / size_of(field_.dtype));
  }
  sample_.data = column_.values.data() + first;
  return sample_;
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
        FieldWalk(dataset, field, who).walk(first, end, [&](std::uint64_t sample, const TensorView& values) {
          numbers[sample] = see(values);
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
