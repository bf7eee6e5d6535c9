#include "frameworks/trees/queries.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/values.hpp"

namespace trainrt::frameworks::trees {

namespace {

constexpr std::size_t rows_at_once = 8192;

/// Consecutive rows of one query.
struct QueryRun {
  std::int64_t query = 0;
  std::uint64_t first = 0, last = 0;  ///< sample numbers
};

/// Summary of the query runs of a rank: their minimum and maximum query, their number, and whether a query is repeated.
/// Each rank gathers the Bounds of all ranks.
struct Bounds {
  std::int64_t min = 0, max = 0;
  std::uint64_t runs = 0;
  bool has_repeated = false;
};

template <class T>
std::int64_t whole_number(T value, const QueryField& queries, std::uint64_t sample) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T limit = 9.2e18;  // below 2^63
    if (!(std::abs(value) < limit) || value != std::trunc(value))
      throw UsageError(fmt::format("[data.{}] query '{}' of sample {} is {}: every row needs an integer", queries.set,
                                   queries.field, sample, std::isnan(value) ? "missing (NaN)" : fmt::format("{}", value)));
  }
  return static_cast<std::int64_t>(value);
}

/// Returns the first position at or after `from` at which another query begins; data.size() if no other query begins.
std::uint64_t next_query(const Dataset& data, const QueryField& queries, std::uint64_t from) {
  if (from == 0 || from >= data.size()) return from;
  std::vector<std::int64_t> numbers;
  std::int64_t last = 0;
  auto position = from - 1;
  for (const auto& batch : data.epoch(0).range(position, data.size() - position, rows_at_once))
    for (const auto number : read_queries(batch, queries, numbers)) {
      if (position >= from && number != last) return position;
      last = number;
      ++position;
    }
  return data.size();
}

std::vector<QueryRun> runs_of(const Dataset& data, const QueryField& queries, const SampleRange& part) {
  std::vector<QueryRun> runs;
  std::vector<std::int64_t> numbers;
  for (const auto& batch : data.epoch(0).range(part.first, part.count, rows_at_once)) {
    read_queries(batch, queries, numbers);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const auto sample = batch.indices()[row];
      if (runs.empty() || runs.back().query != numbers[row]) runs.push_back({numbers[row], sample, sample});
      runs.back().last = sample;
    }
  }
  return runs;
}

/// Sorts `runs` by query. Returns nothing if each query has one run. Otherwise returns two runs of the same query, of which
/// the second is the first one in the dataset that repeats a query.
std::optional<std::pair<QueryRun, QueryRun>> repeated(std::vector<QueryRun>& runs) {
  std::ranges::sort(
      runs, [](const QueryRun& a, const QueryRun& b) { return std::pair(a.query, a.first) < std::pair(b.query, b.first); });
  std::optional<std::pair<QueryRun, QueryRun>> found;
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].query == runs[i - 1].query && (!found || runs[i].first < found->second.first))
      found = {runs[i - 1], runs[i]};
  return found;
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class T>
void append(std::string_view bytes, std::vector<T>& values) {
  const auto before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

/// Returns whether no rank has two runs of a query, and the ranges of query numbers of the ranks do not overlap. This is
/// true for sorted data; only if it is false do the ranks need to gather their queries. Collective.
bool have_separate_queries(Context& ctx, const std::vector<QueryRun>& sorted, bool has_repeated) {
  Bounds mine{.runs = sorted.size(), .has_repeated = has_repeated};
  if (!sorted.empty()) mine.min = sorted.front().query, mine.max = sorted.back().query;
  std::vector<Bounds> all;
  for (const auto& bytes : ctx.communicator().all_gather(bytes_of(std::span<const Bounds>(&mine, 1)))) append(bytes, all);
  std::erase_if(all, [](const Bounds& bounds) { return bounds.runs == 0; });
  std::ranges::sort(all, {}, &Bounds::min);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].has_repeated || (i > 0 && all[i].min <= all[i - 1].max)) return false;
  return true;
}

std::string samples_text(const QueryRun& run) {
  return run.first == run.last ? fmt::format("sample {}", run.first) : fmt::format("samples {} to {}", run.first, run.last);
}

void require_consecutive(Context& ctx, std::vector<QueryRun> runs, const QueryField& queries) {
  const bool has_repeated = repeated(runs).has_value();
  if (have_separate_queries(ctx, runs, has_repeated)) return;
  std::vector<QueryRun> all;
  for (const auto& bytes : ctx.communicator().all_gather(bytes_of(std::span<const QueryRun>(runs)))) append(bytes, all);
  if (const auto found = repeated(all))
    throw UsageError(fmt::format(
        "[data.{}] the rows of query {} ('{}') are not consecutive: {}, and again {}. Sort the data by '{}'", queries.set,
        found->first.query, queries.field, samples_text(found->first), samples_text(found->second), queries.field));
}

}  // namespace

std::span<const std::int64_t> read_queries(const Batch& batch, const QueryField& queries, std::vector<std::int64_t>& into) {
  into.resize(batch.size());
  with_values(batch.field(queries.field), [&](const auto* from) {
    for (std::size_t row = 0; row < into.size(); ++row) into[row] = whole_number(from[row], queries, batch.indices()[row]);
  });
  return into;
}

SampleRange part_of_queries(Context& ctx, const Dataset& data, const QueryField& queries) {
  const auto even = part_of(data.size(), ctx.world_rank(), ctx.world_size());
  const auto first = next_query(data, queries, even.first);
  std::vector<std::uint64_t> firsts;
  for (const auto& bytes : ctx.communicator().all_gather(bytes_of(std::span<const std::uint64_t>(&first, 1))))
    append(bytes, firsts);
  firsts.push_back(data.size());
  const SampleRange part{first, firsts[static_cast<std::size_t>(ctx.world_rank()) + 1] - first};
  require_consecutive(ctx, runs_of(data, queries, part), queries);
  return part;
}

}  // namespace trainrt::frameworks::trees
