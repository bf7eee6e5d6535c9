#include "data/filter.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/log.hpp"
#include "data/field_wishes.hpp"
#include "data/kept_rows.hpp"
#include "data/selected_source.hpp"
#include "io/digest.hpp"

namespace trainrt::data {

namespace {

constexpr auto word_bits = KeptRows::word_bits;

/// The samples that one rank looks at.
class Look {
 public:
  Look(const DatasetImpl& dataset, std::size_t field, const Dataset::SamplePredicate& keeps)
      : dataset_(dataset), field_(dataset.source->fields()[field]), keeps_(keeps), told_at_s_(monotonic_seconds()) {
    column_.field = field;
    sample_.dtype = field_.dtype;
    sample_.shape = field_.varies ? Shape{0} : field_.sample_shape;
  }

  /// Sets the bits of those that are kept. `first` counts whole words.
  void walk(std::uint64_t first, std::uint64_t end, std::span<std::int64_t> bits) {
    constexpr std::uint64_t bytes_at_once = 4 << 20, most = 1 << 16, varying = 1024;
    const auto each = field_.varies ? 0 : std::max<std::uint64_t>(sample_bytes(field_), 1);
    const auto count = each == 0 ? varying : std::clamp<std::uint64_t>(bytes_at_once / each, 1, most);
    for (auto at = first; at < end; at += count) {
      samples_.resize(std::min(count, end - at));
      std::iota(samples_.begin(), samples_.end(), at);
      read();
      for (std::size_t i = 0; i < samples_.size(); ++i)
        if (keeps_(value(i))) bits[samples_[i] / word_bits] |= std::int64_t{1} << (samples_[i] % word_bits);
      tell(at - first, end - first);
    }
  }

 private:
  void read() {
    if (dataset_.skipping)
      dataset_.skipping->read(*dataset_.source, samples_, {&column_, 1});
    else
      dataset_.source->read(samples_, {&column_, 1});
  }

  const TensorView& value(std::size_t i) {
    auto first = i * sample_bytes(field_);
    if (field_.varies) {
      first = i == 0 ? 0 : column_.ends[i - 1];
      sample_.shape[0] = static_cast<std::int64_t>((column_.ends[i] - first) / size_of(field_.dtype));
    }
    sample_.data = column_.values.data() + first;
    return sample_;
  }

  /// A line a minute.
  void tell(std::uint64_t done, std::uint64_t all) {
    constexpr double pause_s = 60;
    const auto now_s = monotonic_seconds();
    if (now_s - told_at_s_ < pause_s) return;
    told_at_s_ = now_s;
    log::info(fmt::format("dataset '{}': the filter has looked at {} of {} samples", dataset_.name, done, all));
  }

  const DatasetImpl& dataset_;
  const Dataset::Field& field_;
  const Dataset::SamplePredicate& keeps_;
  double told_at_s_;
  Column column_;
  TensorView sample_;
  std::vector<std::uint64_t> samples_;
};

/// This rank's part of `words` words.
std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t words, const Team& team) {
  const auto size = static_cast<std::uint64_t>(team.size), rank = static_cast<std::uint64_t>(team.rank);
  const auto each = words / size, more = words % size;
  const auto first = rank * each + std::min(rank, more);
  return {first, first + each + (rank < more ? 1 : 0)};
}

KeptRows kept_rows(const DatasetImpl& dataset, std::size_t field, const Dataset::SamplePredicate& keeps) {
  const auto samples = dataset.source->size();
  std::vector<std::int64_t> bits((samples + word_bits - 1) / word_bits);
  const auto [first, end] = part_of(bits.size(), dataset.team);
  dataset.team.look_together(
      [&, first = first, end = end] {
        Look(dataset, field, keeps).walk(first * word_bits, std::min(end * word_bits, samples), bits);
      },
      bits);
  return KeptRows({bits.begin(), bits.end()});
}

/// Each source keeps its share of the epoch.
std::vector<MixedPart> parts_left(const DatasetImpl& dataset, const KeptRows& rows) {
  std::vector<std::uint64_t> sizes;
  std::vector<double> shares;
  for (const auto& part : dataset.mixed) {
    sizes.push_back(rows.below(part.first + part.size) - rows.below(part.first));
    shares.push_back(static_cast<double>(part.share));
    if (sizes.back() == 0) throw UsageError("the filter leaves one of its sources without a sample");
  }
  return mixed_parts(sizes, shares);
}

}  // namespace

void filter(DatasetImpl& dataset, std::string_view field, const Dataset::SamplePredicate& keeps) {
  if (dataset.cursor.in_progress && !dataset.restored)
    throw UsageError("filter() while batches of it are being walked; call it before the first epoch");
  auto rows = kept_rows(dataset, find_field(dataset.source->fields(), field), keeps);
  const auto before = dataset.source->size();
  if (rows.size() == 0) throw UsageError(fmt::format("the filter keeps none of its {} samples", before));
  if (!dataset.mixed.empty()) dataset.mixed = parts_left(dataset, rows);
  const auto digest = io::digest_of(std::as_bytes(std::span(rows.bits())));
  dataset.filter_text += fmt::format("{}{} of {} samples with digest {}", dataset.filter_text.empty() ? "" : ", of these ",
                                     rows.size(), before, digest);
  dataset.source = std::make_shared<SelectedSource<KeptRows>>(std::move(dataset.source), std::move(rows));
}

}  // namespace trainrt::data
