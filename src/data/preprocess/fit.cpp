#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/thread.hpp"
#include "data/batches/field_scan.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

using Requests = std::span<const StatisticRequest>;

/// The samples `first` to `second` - 1.
using SampleRange = std::pair<std::uint64_t, std::uint64_t>;

/// Divides the samples in `all` into `parts` consecutive shares, and returns share number `at`.
SampleRange share_of_range(SampleRange all, int at, int parts) {
  const auto [first, end] = share_of(all.second - all.first, at, parts);
  return {all.first + first, all.first + end};
}

/// Calls function(request) for each request. If it throws UsageError, adds the column's name to the message.
template <class Function>
void for_each_request(Requests requests, Function&& function) {
  for (const auto& request : requests) in_context(fmt::format("column '{}'", request.column), [&] { function(request); });
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

/// Swaps the values of the columns `read`, which a source has read, with those of the columns of `table`.
void exchange(std::vector<Column>& read, Table& table) {
  for (std::size_t i = 0; i < read.size(); ++i) {
    std::swap(read[i].values, table.columns[i].values);
    std::swap(read[i].ends, table.columns[i].ends);
  }
}

/// Reads the samples in `range` and returns their statistics, encoded by Statistic::write().
std::string statistics_of(const Source& source, SkippingReader* skipping, Requests requests, SampleRange range) {
  constexpr std::uint64_t max_bytes = 1 << 20, max_samples = 1 << 14;
  const auto own = fresh(requests);
  std::vector<Column> columns;
  Table table;
  for (const auto& request : own) {
    if (find_column(table, request.column) != nullptr) continue;
    columns.push_back({find_field(source.fields(), request.column), {}, {}});
    table.columns.push_back({source.fields()[columns.back().field], {}, {}});
  }
  scan_columns(source, skipping, range.first, range.second, max_bytes, max_samples, columns, [&](const auto&) {
    exchange(columns, table);
    for_each_request(own, [&table](const auto& request) { request.statistic->add(*find_column(table, request.column)); });
    exchange(columns, table);  // swaps the values back, so that the next read reuses their memory
  });
  return written(own);
}

/// Returns the encoded statistics of this rank's part of the samples, computed by several threads. The results of the
/// threads are merged, so that the size of the returned bytes does not depend on the number of threads.
std::string statistics_of_rank(const DatasetPlan& dataset, const Source& source, Requests requests) {
  const auto mine = share_of_range({0, source.size()}, dataset.team.rank, dataset.team.size);
  const auto threads =
      std::clamp<int>(dataset.threads, 1, static_cast<int>(std::min<std::uint64_t>(mine.second - mine.first + 1, 64)));
  std::vector<std::string> parts(static_cast<std::size_t>(threads));
  std::vector<std::exception_ptr> errors(parts.size());
  const auto compute = [&](int number) {
    const auto at = static_cast<std::size_t>(number);
    try {
      parts[at] = statistics_of(source, dataset.skipping.get(), requests, share_of_range(mine, number, threads));
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
