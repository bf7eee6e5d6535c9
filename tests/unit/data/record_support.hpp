#pragma once
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include <trainrt/random.hpp>

#include "data/records/record_source.hpp"
#include "data/source/format.hpp"
#include "unit/data/support.hpp"

namespace data_test {

/// Small steps: a file of some kilobytes is read as one of gigabytes is, from many places.
inline const data::RecordLimits small_steps{.spacing = 50, .looked_at = 20};

inline Options checked_for(const std::string& format, const std::map<std::string, std::string>& values) {
  return checked(options(values), find_plugin(data::format_table(), format, "data format").options, "[data.train]");
}

/// A few numbers of samples, in any order, some twice.
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

/// Each sample of each field, read in one go.
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

/// How many readings, in any order, of any fields, by several threads at once, give other values than those.
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

}  // namespace data_test
