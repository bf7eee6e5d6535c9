#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/thread.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/source/samples_at_once.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

using Requests = std::span<const StatisticRequest>;

/// A range of samples: `first` to `end - 1`.
struct SampleRange {
  std::uint64_t first, end;
};

/// Divides the samples into `parts` consecutive shares, and returns share number `at`.
SampleRange share_of_range(SampleRange all, int at, int parts) {
  const auto [first, end] = share_of(all.end - all.first, at, parts);
  return {all.first + first, all.first + end};
}

/// Calls function(request) for each request. If it throws UsageError, adds the column's name to the message.
template <class Function>
void for_each_request(Requests requests, Function&& function) {
  for (const auto& request : requests) try {
      function(request);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("column '{}': {}", request.column, error.what()));
    }
}

std::vector<StatisticRequest> fresh(Requests requests) {
  std::vector<StatisticRequest> made;
  for (const auto& request : requests) made.push_back({request.column, request.statistic->fresh()});
  return made;
}

std::string written(Requests requests) {
  PackedWriter writer;
  for (const auto& request : requests) request.statistic->write(writer);
  return writer.take();
}

void merge(Requests requests, const std::string& bytes) {
  PackedReader reader(bytes);
  for_each_request(requests, [&reader](const auto& request) { request.statistic->merge(reader); });
}

/// Reads a part of the samples in one thread and computes the statistics of these samples.
class FitReader {
 public:
  FitReader(const Source& source, SkippingReader* skipping, Requests requests)
      : source_(source), skipping_(skipping), own_(fresh(requests)) {
    for (const auto& request : own_) {
      const auto field = find_field(source.fields(), request.column);
      if (std::none_of(columns_.begin(), columns_.end(), [field](const auto& column) { return column.field == field; }))
        columns_.push_back({field, {}, {}});
    }
  }

  /// Returns the statistics of the samples in `range`, as bytes that Statistic::write() has written.
  std::string statistics_of(SampleRange range) {
    auto at_once = samples_at_once();
    std::vector<std::uint64_t> samples;
    for (auto at = range.first; at < range.end;) {
      samples.resize(std::min(at_once.count(), range.end - at));
      std::iota(samples.begin(), samples.end(), at);
      at += samples.size();
      if (skipping_ != nullptr)
        skipping_->read_if_any(source_, samples, columns_);
      else
        source_.read(samples, columns_);
      if (samples.empty()) continue;
      std::uint64_t bytes = 0;
      for (const auto& column : columns_) bytes += column.values.size();
      at_once.saw(samples.size(), bytes);
      add_to_statistics();
    }
    return written(own_);
  }

 private:
  SamplesAtOnce samples_at_once() const {
    constexpr std::uint64_t max_bytes = 1 << 20, max_samples = 1 << 14;
    std::uint64_t bytes = 0;
    bool varies = false;
    for (const auto& column : columns_) {
      const auto& field = source_.fields()[column.field];
      varies = varies || field.varies;
      if (!field.varies) bytes += sample_bytes(field);
    }
    return {max_bytes, bytes, varies, max_samples};
  }

  void add_to_statistics() {
    Table table;
    for (auto& column : columns_)
      table.columns.push_back({source_.fields()[column.field], std::move(column.values), std::move(column.ends)});
    for_each_request(own_, [&table](const auto& request) { request.statistic->add(*find_column(table, request.column)); });
    for (std::size_t i = 0; i < columns_.size(); ++i) {  // the next read reuses the memory
      columns_[i].values = std::move(table.columns[i].values);
      columns_[i].ends = std::move(table.columns[i].ends);
    }
  }

  const Source& source_;
  SkippingReader* skipping_;
  std::vector<StatisticRequest> own_;
  std::vector<Column> columns_;
};

/// Returns the statistics of this rank's part of the samples, computed by several threads. The results of the threads are
/// merged, so that the number of threads does not change the size of the returned bytes.
std::string statistics_of_rank(const DatasetPlan& dataset, const Source& source, Requests requests) {
  const auto mine = share_of_range({0, source.size()}, dataset.team.rank, dataset.team.size);
  const auto threads =
      std::clamp<int>(dataset.threads, 1, static_cast<int>(std::min<std::uint64_t>(mine.end - mine.first + 1, 64)));
  std::vector<std::string> parts(static_cast<std::size_t>(threads));
  std::vector<std::exception_ptr> errors(parts.size());
  const auto compute = [&](int number) {
    const auto at = static_cast<std::size_t>(number);
    try {
      parts[at] = FitReader(source, dataset.skipping.get(), requests).statistics_of(share_of_range(mine, number, threads));
    } catch (...) {
      errors[at] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int number = 1; number < threads; ++number)
    others.push_back(thread_without_signals([&compute, number] { compute(number); }));
  compute(0);
  for (auto& thread : others) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  if (parts.size() == 1) return std::move(parts.front());
  const auto merged = fresh(requests);
  for (const auto& bytes : parts) merge(merged, bytes);
  return written(merged);
}

PreprocessorImpl::Stage fitted_stage(const PreprocessorImpl::Stage& stage, const Source& source,
                                     const DatasetPlan& dataset) {
  const auto requests = in_stage(stage, [&] { return stage.work->requests(source.fields()); });
  for (bool needs_pass = true; needs_pass;) {
    const auto parts =
        dataset.team.gather([&] { return in_stage(stage, [&] { return statistics_of_rank(dataset, source, requests); }); });
    in_stage(stage, [&] {
      for (const auto& bytes : parts) merge(requests, bytes);
    });
    needs_pass = false;
    for (const auto& request : requests) needs_pass = request.statistic->begin_next_pass() || needs_pass;
  }
  return stage_of(*stage.kind, stage.parameters, in_stage(stage, [&] { return stage.work->stats_of(requests); }));
}

}  // namespace

PreprocessorImpl fitted(const PreprocessorImpl& preprocessor, const DatasetPlan& dataset) {
  PreprocessorImpl made{{}, preprocessor.is_chain};
  auto source = dataset.source;
  for (const auto& stage : preprocessor.stages) {
    made.stages.push_back(stage.work->needs_fit() ? fitted_stage(stage, *source, dataset) : stage);
    source = preprocessed(source, made.stages.back());
  }
  return made;
}

}  // namespace trainrt::data
