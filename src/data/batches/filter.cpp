#include "data/batches/filter.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/batches/draw_by_weight.hpp"
#include "data/batches/field_walk.hpp"
#include "data/source/row_bitmap.hpp"
#include "data/source/selected_source.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/row_predicate.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

namespace {

constexpr auto word_bits = RowBitmap::word_bits;

RowBitmap kept_rows(const DatasetImpl& dataset, const std::vector<std::size_t>& fields,
                    const std::function<bool(std::span<const TensorView>)>& keeps, const std::string& who) {
  const auto samples = dataset.source->size();
  std::vector<std::int64_t> bits((samples + word_bits - 1) / word_bits);
  const auto [first, end] = part_of_team(bits.size(), dataset.team);
  dataset.team.look_together(
      [&, first = first, end = end] {
        FieldWalk(dataset, fields, who)
            .walk(first * word_bits, std::min(end * word_bits, samples),
                  [&](std::uint64_t sample, std::span<const TensorView> values) {
                    if (keeps(values)) bits[sample / word_bits] |= std::int64_t{1} << (sample % word_bits);
                  });
      },
      bits);
  return RowBitmap({bits.begin(), bits.end()});
}

/// Each source keeps its share of the epoch.
std::vector<MixedPart> parts_left(const DatasetImpl& dataset, const RowBitmap& rows, const std::string& who) {
  std::vector<std::uint64_t> sizes;
  std::vector<double> shares;
  for (const auto& part : dataset.mixed) {
    sizes.push_back(rows.count_below(part.first + part.size) - rows.count_below(part.first));
    shares.push_back(static_cast<double>(part.share));
    if (sizes.back() == 0) throw UsageError(who + " leaves one of its sources without a sample");
  }
  return mixed_parts(sizes, shares);
}

}  // namespace

void filter(DatasetImpl& dataset, std::string_view field, const Dataset::SamplePredicate& keeps) {
  filter(
      dataset, {find_field(dataset.source->fields(), field)},
      [&](std::span<const TensorView> values) { return keeps(values.front()); }, "the filter");
}

void filter(DatasetImpl& dataset, const std::vector<std::size_t>& fields,
            const std::function<bool(std::span<const TensorView>)>& keeps, const std::string& who) {
  require_not_walked(dataset, "filter()");
  auto rows = kept_rows(dataset, fields, keeps, who);
  const auto before = dataset.source->size();
  if (rows.size() == 0) throw UsageError(fmt::format("{} keeps none of its {} samples", who, before));
  if (!dataset.mixed.empty()) dataset.mixed = parts_left(dataset, rows, who);
  const auto digest = io::digest_of(std::as_bytes(std::span(rows.bits())));
  dataset.filter_text += fmt::format("{}{} of {} samples with digest {}", dataset.filter_text.empty() ? "" : ", of these ",
                                     rows.size(), before, digest);
  dataset.source = std::make_shared<SelectedSource<RowBitmap>>(std::move(dataset.source), std::move(rows));
  draw_again(dataset);
}

void filter(DatasetImpl& dataset, const std::string& condition) {
  const RowPredicate predicate(condition, dataset.source->fields());
  filter(
      dataset, predicate.fields(), [&](std::span<const TensorView> values) { return predicate.holds(values); },
      fmt::format("the condition '{}'", excerpt(condition, 60)));
}

namespace {

std::string filter_in_words(const std::string& filter) { return filter.empty() ? "all samples" : filter; }

bool filter_differs(const DatasetImpl& dataset) {
  const auto& hash = dataset.restored_filter_hash;
  return hash ? *hash != stable_hash(dataset.filter_text) : dataset.restored_filter != dataset.filter_text;
}

}  // namespace

void require_same_filter(const DatasetImpl& dataset) {
  if (!filter_differs(dataset)) return;
  throw UsageError("dataset '" + dataset.name + "': filters and the like leave " + filter_in_words(dataset.filter_text) +
                   ", and at the checkpoint they left " +
                   (dataset.restored_filter_hash ? "others" : filter_in_words(dataset.restored_filter)) +
                   "; the run stands inside an epoch, whose remaining samples cannot be told any more: give back what it "
                   "had, or start a run of another name from that checkpoint");
}

}  // namespace trainrt::data
