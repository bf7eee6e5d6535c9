#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/random.hpp>

namespace trainrt::test {

/// What a rank's values are, so that every rank can tell what the others hold.
template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  Random random(99, static_cast<std::uint64_t>(rank));
  std::vector<T> values(count);
  for (auto& value : values)
    value = static_cast<T>((random.uniform() - 0.5) *
                           (random.below(2) == 0 ? 1e3 : 1e-3));  // magnitudes that make order matter
  return values;
}

/// The sum over ranks first .. first+width of the tree, written as the contract says it, not as any backend computes it.
template <class T>
T tree_sum(const std::vector<std::vector<T>>& all, std::size_t i, std::size_t first, std::size_t width) {
  if (width == 1) return all[first][i];
  const auto half = width / 2;
  const T lower = tree_sum(all, i, first, half);
  if (first + half >= all.size()) return lower;
  return lower + tree_sum(all, i, first + half, half);
}

template <class T>
std::string reduce_findings(Communicator& c, std::size_t count) {
  std::vector<std::vector<T>> all;
  for (int rank = 0; rank < c.size(); ++rank) all.push_back(values_of<T>(rank, count));
  std::size_t width = 1;
  while (width < all.size()) width *= 2;
  auto sum = all[static_cast<std::size_t>(c.rank())];
  auto mean = sum, least = sum, most = sum;
  c.all_reduce(sum, Op::sum);
  c.all_reduce(mean, Op::mean);
  c.all_reduce(least, Op::min);
  c.all_reduce(most, Op::max);
  for (std::size_t i = 0; i < count; ++i) {
    const T expected = tree_sum(all, i, 0, width);
    T low = all[0][i], high = all[0][i];
    for (const auto& values : all) low = std::min(low, values[i]), high = std::max(high, values[i]);
    if (std::memcmp(&sum[i], &expected, sizeof(T)) != 0) return "sum is not the tree's, bit for bit; ";
    if (mean[i] != expected / static_cast<T>(c.size())) return "mean is not sum / size; ";
    if (least[i] != low || most[i] != high) return "min or max is wrong; ";
  }
  return {};
}

inline std::string exchange_findings(Communicator& c) {
  for (int root = 0; root < c.size(); ++root) {
    std::vector<double> values = values_of<double>(c.rank(), 1000);
    c.broadcast(Buffer{values.data(), values.size(), DType::f64}, root);
    if (values != values_of<double>(root, 1000)) return "broadcast is wrong; ";
  }
  const auto all = c.all_gather(std::string(static_cast<std::size_t>(c.rank() * 3), static_cast<char>('a' + c.rank())));
  if (all.size() != static_cast<std::size_t>(c.size())) return "all_gather has a wrong count; ";
  for (int rank = 0; rank < c.size(); ++rank)
    if (all[static_cast<std::size_t>(rank)] !=
        std::string(static_cast<std::size_t>(rank * 3), static_cast<char>('a' + rank)))
      return "all_gather is wrong; ";
  if (c.broadcast_text("from " + std::to_string(c.rank()), c.size() - 1) != "from " + std::to_string(c.size() - 1))
    return "broadcast_text is wrong; ";
  return {};
}

inline std::string vote_findings(Communicator& c) {
  for (int round = 0; round < 5; ++round) {
    c.start_vote({c.rank(), -c.rank(), round, c.rank() == round ? 7 : 0});
    double work = c.all_reduced(1.0, Op::sum);  // other collectives may run while a vote is in flight
    if (work != c.size()) return "all_reduce during a vote is wrong; ";
    const auto result = c.finish_vote();
    if (result != Communicator::Vote{c.size() - 1, 0, round, round < c.size() ? 7 : 0}) return "vote is wrong; ";
  }
  return {};
}

inline std::string nan_findings(Communicator& c) {
  const double mine = c.rank() == c.size() - 1 ? std::numeric_limits<double>::quiet_NaN() : c.rank();
  if (!std::isnan(c.all_reduced(mine, Op::min)) || !std::isnan(c.all_reduced(mine, Op::max)))
    return "min or max loses a NaN; ";
  return {};
}

inline std::string bucket_findings(Communicator& c) {
  const std::vector<std::size_t> counts = {1000, 3, 0, 70000};
  GradientBuckets buckets(c, counts, DType::f32, 4096);
  for (std::size_t p = 0; p < counts.size(); ++p) {
    auto* gradient = static_cast<float*>(buckets.gradient(p));
    if (reinterpret_cast<std::uintptr_t>(gradient) % 64 != 0) return "a gradient is not 64-byte aligned; ";
    for (std::size_t i = 0; i < counts[p]; ++i) gradient[i] = static_cast<float>(c.rank());
  }
  buckets.average();
  const float expected = static_cast<float>(c.size() - 1) / 2;
  for (std::size_t p = 0; p < counts.size(); ++p)
    for (std::size_t i = 0; i < counts[p]; ++i)
      if (static_cast<float*>(buckets.gradient(p))[i] != expected) return "bucket average is wrong; ";
  return {};
}

/// Everything that the header of Communicator promises; "" where it is kept. Collective.
inline std::string communicator_findings(Communicator& c) {
  std::string findings;
  for (const std::size_t count : {0UL, 1UL, 7UL, 4096UL, 4097UL, 100001UL}) {
    findings += reduce_findings<float>(c, count) + reduce_findings<double>(c, count);
    findings += reduce_findings<std::int32_t>(c, count) + reduce_findings<std::int64_t>(c, count);
  }
  std::vector<std::uint8_t> bytes(4);
  try {
    c.all_reduce(bytes, Op::sum);
    findings += "a type that cannot be reduced is not refused; ";
  } catch (const UsageError&) {
    c.barrier();
  }
  return findings + exchange_findings(c) + vote_findings(c) + nan_findings(c) + bucket_findings(c);
}

}  // namespace trainrt::test
