#include "data/preprocess/fit.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/thread.hpp"
#include "data/preprocess/preprocessed_source.hpp"
#include "data/source/samples_at_once.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

struct Part {
  std::uint64_t first, end;
};

/// Part `at` of `parts` of the samples, which are neighbours.
Part part_of_fit(Part whole, int at, int parts) {
  const auto samples = whole.end - whole.first, number = static_cast<std::uint64_t>(at),
             all = static_cast<std::uint64_t>(parts);
  const auto each = samples / all, more = samples % all;
  const auto first = whole.first + number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}

/// Reads some samples, and shows them to statistics of its own.
class FitReader {
 public:
  FitReader(const Source& source, SkippingReader* skipping, std::span<const Wish> wishes)
      : source_(source), skipping_(skipping) {
    for (const auto& wish : wishes) {
      const auto field = find_field(source.fields(), wish.column);
      auto at =
          std::find_if(columns_.begin(), columns_.end(), [field](const auto& column) { return column.field == field; });
      places_.push_back(static_cast<std::size_t>(at - columns_.begin()));
      if (at == columns_.end()) columns_.push_back({field, {}, {}});
      own_.push_back({wish.column, wish.statistic->fresh()});
    }
  }

  void walk(Part part) {
    auto at_once = samples_at_once();
    for (auto at = part.first; at < part.end;) {
      samples_.resize(std::min(at_once.count(), part.end - at));
      std::iota(samples_.begin(), samples_.end(), at);
      at += samples_.size();
      if (skipping_ != nullptr)
        skipping_->read_if_any(source_, samples_, columns_);
      else
        source_.read(samples_, columns_);
      if (samples_.empty()) continue;
      at_once.saw(samples_.size(), bytes_read());
      see();
    }
  }

  std::string bytes() const {
    PackedWriter writer;
    for (const auto& wish : own_) wish.statistic->write(writer);
    return writer.take();
  }

 private:
  SamplesAtOnce samples_at_once() const {
    constexpr std::uint64_t bytes_at_once = 1 << 20, most = 1 << 14;
    std::uint64_t bytes = 0;
    bool varies = false;
    for (const auto& column : columns_) {
      const auto& field = source_.fields()[column.field];
      varies = varies || field.varies;
      if (!field.varies) bytes += sample_bytes(field);
    }
    return {bytes_at_once, bytes, varies, most};
  }

  std::uint64_t bytes_read() const {
    std::uint64_t bytes = 0;
    for (const auto& column : columns_) bytes += column.values.size();
    return bytes;
  }

  void see() {
    std::vector<Table::Column> read;
    for (auto& column : columns_)
      read.push_back({source_.fields()[column.field], std::move(column.values), std::move(column.ends)});
    for (std::size_t i = 0; i < own_.size(); ++i) try {
        own_[i].statistic->see(read[places_[i]]);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("column '{}': {}", own_[i].column, error.what()));
      }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].values = std::move(read[i].values);
      columns_[i].ends = std::move(read[i].ends);
    }
  }

  const Source& source_;
  SkippingReader* skipping_;
  std::vector<Column> columns_;
  std::vector<std::size_t> places_;  ///< of each statistic's column
  std::vector<Wish> own_;
  std::vector<std::uint64_t> samples_;
};

void merge_bytes(std::span<const Wish> wishes, const std::string& bytes) {
  PackedReader reader(bytes);
  for (const auto& wish : wishes) try {
      wish.statistic->merge(reader);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("column '{}': {}", wish.column, error.what()));
    }
}

/// What this rank's part says, by several threads: the parts do not matter, since statistics are exact.
std::vector<std::string> looked_at(const DatasetPlan& dataset, const Source& source, std::span<const Wish> wishes) {
  const auto mine = part_of_fit({0, source.size()}, dataset.team.rank, dataset.team.size);
  const auto threads =
      std::clamp<int>(dataset.threads, 1, static_cast<int>(std::min<std::uint64_t>(mine.end - mine.first + 1, 64)));
  std::vector<std::string> found(static_cast<std::size_t>(threads));
  std::vector<std::exception_ptr> errors(found.size());
  const auto look = [&](int number) {
    try {
      FitReader reader(source, dataset.skipping.get(), wishes);
      reader.walk(part_of_fit(mine, number, threads));
      found[static_cast<std::size_t>(number)] = reader.bytes();
    } catch (...) {
      errors[static_cast<std::size_t>(number)] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int number = 1; number < threads; ++number)
    others.push_back(thread_without_signals([&look, number] { look(number); }));
  look(0);
  for (auto& thread : others) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  return found;
}

/// One statement for all threads of this rank: what is sent does not grow with them.
std::string look_once(const DatasetPlan& dataset, const Source& source, std::span<const Wish> wishes) {
  auto found = looked_at(dataset, source, wishes);
  if (found.size() == 1) return std::move(found.front());
  std::vector<Wish> together;
  for (const auto& wish : wishes) together.push_back({wish.column, wish.statistic->fresh()});
  for (const auto& bytes : found) merge_bytes(together, bytes);
  PackedWriter writer;
  for (const auto& wish : together) wish.statistic->write(writer);
  return writer.take();
}

PreprocessorImpl::Stage fitted_stage(const PreprocessorImpl::Stage& stage, const Source& source,
                                     const DatasetPlan& dataset) {
  const auto wishes = in_stage(stage, [&] { return stage.work->wishes(source.fields()); });
  for (bool has_more = true; has_more;) {
    const auto parts =
        dataset.team.gather([&] { return in_stage(stage, [&] { return look_once(dataset, source, wishes); }); });
    in_stage(stage, [&] {
      for (const auto& bytes : parts) merge_bytes(wishes, bytes);
    });
    has_more = false;
    for (const auto& wish : wishes) has_more = wish.statistic->begin_next_pass() || has_more;
  }
  return stage_of(*stage.kind, stage.parameters, in_stage(stage, [&] { return stage.work->learned(wishes); }));
}

}  // namespace

PreprocessorImpl fitted(const PreprocessorImpl& preprocessor, const DatasetPlan& dataset, bool keep_fitted) {
  PreprocessorImpl made{{}, preprocessor.is_chain};
  auto source = dataset.source;
  for (const auto& stage : preprocessor.stages) {
    const bool has_to_learn = stage.work->learns() && !(keep_fitted && stage.is_fitted());
    made.stages.push_back(has_to_learn ? fitted_stage(stage, *source, dataset) : stage);
    source = std::make_shared<PreprocessedSource>(source, made.stages.back());
  }
  return made;
}

}  // namespace trainrt::data
