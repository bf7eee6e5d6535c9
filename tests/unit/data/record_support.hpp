#pragma once
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <trainrt/random.hpp>

#include "data/records/record_formats.hpp"
#include "data/source/format.hpp"
#include "unit/data/support.hpp"

namespace data_test {

/// With these limits a file of some kilobytes is read like a file of gigabytes, from many positions.
inline const data::RecordLimits small_steps{.spacing = 50, .max_probed = 20};

inline Options checked_for(const std::string& format, const std::map<std::string, std::string>& values) {
  return checked(options(values), find_plugin(data::format_table(), format, "data format").options, "[data.train]");
}

/// Returns a few random numbers of samples, unsorted, with repetitions.
inline std::vector<std::uint64_t> some_samples(Random& random, std::uint64_t size) {
  std::vector<std::uint64_t> samples(1 + random.below(30));
  for (auto& sample : samples) sample = random.below(size);
  return samples;
}

inline std::vector<data::Column> columns_of(const data::Source& source) {
  std::vector<data::Column> columns(source.fields().size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].field = i;
  return columns;
}

inline std::string bytes_of_sample(const data::Source& source, const data::Column& column, std::size_t place) {
  const auto& field = source.fields()[column.field];
  const auto* bytes = reinterpret_cast<const char*>(column.values.data());
  if (!field.varies) return {bytes + place * data::sample_bytes(field), data::sample_bytes(field)};
  const auto first = place == 0 ? 0 : column.ends[place - 1];
  return {bytes + first, bytes + column.ends[place]};
}

/// The values of a dataset: element [field][sample] has the bytes of one sample of a field.
using Values = std::vector<std::vector<std::string>>;

inline Values all_values(const data::Source& source) {
  std::vector<std::uint64_t> samples(source.size());
  std::iota(samples.begin(), samples.end(), 0);
  auto columns = columns_of(source);
  source.read(samples, columns);
  Values values(columns.size());
  for (std::size_t field = 0; field < columns.size(); ++field)
    for (std::size_t i = 0; i < samples.size(); ++i) values[field].push_back(bytes_of_sample(source, columns[field], i));
  return values;
}

/// Reads random samples in several threads at the same time, and compares their values with `values`. A read gets all
/// fields or one random field. Returns the number of values that differ.
inline int wrong_readings(const data::Source& source, const Values& values) {
  std::atomic<int> wrong = 0;
  const auto read_some = [&](std::uint64_t seed) {
    Random random(seed, 0);
    for (int round = 0; round < 40; ++round) {
      auto samples = some_samples(random, source.size());
      if (round % 3 == 0) std::iota(samples.begin(), samples.end(), std::min(samples[0], source.size() - samples.size()));
      if (source.size() < samples.size()) samples.resize(1, 0);
      auto columns = columns_of(source);
      if (round % 2 == 0) columns.assign(1, {random.below(columns.size()), {}, {}});
      source.read(samples, columns);
      for (const auto& column : columns)
        for (std::size_t i = 0; i < samples.size(); ++i)
          wrong += bytes_of_sample(source, column, i) != values[column.field][samples[i]] ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) threads.emplace_back(read_some, seed);
  for (auto& thread : threads) thread.join();
  return wrong;
}

/// Returns number and values of the samples of an epoch, from the dataset's position on, in their order.
inline std::vector<std::string> epoch_of(const std::shared_ptr<DatasetImpl>& dataset) {
  std::vector<std::string> samples;
  for (const auto& batch : Dataset(dataset).epoch(0).batches(1, Remainder::uneven)) {
    auto sample = fmt::format("{}:", batch.indices()[0]);
    for (const auto& field : Dataset(dataset).fields()) {
      const auto view = field.varies ? batch.varying(field.name, 0) : batch.field(field.name);
      sample += std::string(static_cast<const char*>(view.data), view.bytes()) + ";";
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

/// Checks that an epoch that was stopped after any sample continues with the next sample, in file order and shuffled.
inline void check_resumes_anywhere(std::map<std::string, std::string> keys) {
  for (const auto* shuffle : {"false", "true"}) {
    keys["shuffle"] = shuffle;
    const auto whole = epoch_of(open(keys));
    for (std::size_t stop = 1; stop < whole.size(); ++stop) {
      const auto again = open(keys);
      again->walk().restore({true, 0, static_cast<std::int64_t>(stop)}, again->plan().steps_text());
      REQUIRE(epoch_of(again) == std::vector(whole.begin() + static_cast<std::ptrdiff_t>(stop), whole.end()));
    }
  }
}

}  // namespace data_test
