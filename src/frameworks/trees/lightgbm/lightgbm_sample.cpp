#include "frameworks/trees/lightgbm/lightgbm_sample.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include <boost/sort/spreadsort/float_sort.hpp>

namespace trainrt::frameworks::trees {

namespace {

/// Returns the indices of the sampled rows, ascending.
std::vector<std::int32_t> sampled_rows(const LightgbmRun& run, std::int32_t rows) {
  const auto* const parameters = run.parameters.text().c_str();
  int count = 0;
  run.library.check(run.library.sample_count(rows, parameters, &count), true);
  std::vector<std::int32_t> sampled(static_cast<std::size_t>(count));
  std::int32_t found = 0;
  run.library.check(run.library.sample_indices(rows, parameters, sampled.data(), &found), true);
  sampled.resize(static_cast<std::size_t>(found));
  return sampled;
}

/// Fills a LightgbmSample row by row.
class SampleFill {
 public:
  /// `with_rows`: whether to store the row of each value, which LightGBM uses only to bundle features. Without it, all
  /// columns share one list of arbitrary rows.
  SampleFill(LightgbmSample& sample, const TableLayout& layout, bool with_rows) : sample_(sample), with_rows_(with_rows) {
    const auto width = static_cast<std::size_t>(layout.columns), count = static_cast<std::size_t>(sample.rows);
    sample_.counts.assign(width, 0);
    if (layout.is_sparse()) {
      sample_.lists.resize(width);
    } else {
      sample_.area = std::make_unique_for_overwrite<double[]>(width * count);
      for (std::size_t i = 0; i < width; ++i) sample_.values.push_back(sample_.area.get() + i * count);
    }
    sample_.row_lists.resize(with_rows ? width : 1);
    if (with_rows) return;
    sample_.row_lists.front().resize(count);
    std::iota(sample_.row_lists.front().begin(), sample_.row_lists.front().end(), 0);
  }

  template <class T>
  void take(const RowBlock& block, std::size_t row, std::int32_t sampled) {
    const auto* const values = static_cast<const T*>(block.values);
    if (!block.row_starts.empty()) {
      for (auto k = block.row_starts[row]; k < block.row_starts[row + 1]; ++k)
        take(static_cast<std::size_t>(block.columns[static_cast<std::size_t>(k)]), static_cast<double>(values[k]), sampled);
      return;
    }
    const auto width = sample_.counts.size();
    for (std::size_t column = 0; column < width; ++column)
      take(column, static_cast<double>(values[row * width + column]), sampled);
  }

  void finish() {
    for (auto& list : sample_.lists) sample_.values.push_back(list.data());
    for (std::size_t i = 0; i < sample_.counts.size(); ++i)
      sample_.value_rows.push_back(sample_.row_lists[with_rows_ ? i : 0].data());
  }

 private:
  void take(std::size_t column, double value, std::int32_t sampled) {
    constexpr double zero = static_cast<double>(1e-35F);  // LightGBM treats smaller values as zero
    if (!(std::fabs(value) > zero) && !std::isnan(value)) return;
    if (sample_.lists.empty())
      sample_.values[column][sample_.counts[column]] = value;
    else
      sample_.lists[column].push_back(value);
    if (with_rows_) sample_.row_lists[column].push_back(sampled);
    ++sample_.counts[column];
  }

  LightgbmSample& sample_;
  bool with_rows_;
};

/// Sorts the values of those columns for which this rank computes bins. LightGBM divides the columns evenly among the
/// ranks, in rank order.
void sort_own_columns(const LightgbmRun& run, LightgbmSample& sample) {
  const auto ranks = static_cast<std::size_t>(run.ctx.world_size()), rank = static_cast<std::size_t>(run.ctx.world_rank());
  const auto each = (sample.values.size() + ranks - 1) / ranks;
  const auto end = std::min(sample.values.size(), (rank + 1) * each);
  std::atomic<std::size_t> next = rank * each;
  const auto sort_some = [&] {
    for (auto i = next++; i < end; i = next++) {
      auto* const first = sample.values[i];
      auto* const last = std::partition(first, first + sample.counts[i], [](double value) { return !std::isnan(value); });
      boost::sort::spreadsort::float_sort(first, last);
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < run.parameters.threads(); ++i) others.emplace_back(sort_some);
  sort_some();
}

}  // namespace

LightgbmSample sample_of(const LightgbmRun& run, TableRows& rows) {
  const auto sampled = sampled_rows(run, static_cast<std::int32_t>(rows.size()));
  LightgbmSample sample{.rows = static_cast<std::int32_t>(sampled.size())};
  SampleFill fill(sample, run.layout, run.parameters.bundles());
  std::size_t at = 0, first = 0;
  rows.rewind();
  while (at < sampled.size()) {
    const auto* const block = rows.next();
    if (block == nullptr) break;
    for (; at < sampled.size() && static_cast<std::size_t>(sampled[at]) < first + block->rows; ++at) {
      const auto row = static_cast<std::size_t>(sampled[at]) - first;
      if (run.layout.dtype == DType::f64)
        fill.take<double>(*block, row, static_cast<std::int32_t>(at));
      else
        fill.take<float>(*block, row, static_cast<std::int32_t>(at));
    }
    first += block->rows;
  }
  fill.finish();
  if (!run.parameters.bundles()) sort_own_columns(run, sample);
  return sample;
}

}  // namespace trainrt::frameworks::trees
