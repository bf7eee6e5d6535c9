#pragma once
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/random.hpp>

#include "core/float16.hpp"

namespace trainrt::test {

/// Returns the values that `rank` contributes. They depend only on the rank, so every rank can compute those of the others.
template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  Random random(99, static_cast<std::uint64_t>(rank));
  std::vector<T> values(count);
  for (auto& value : values)
    value = static_cast<T>(
        (random.uniform() - 0.5) *
        (random.below(2) == 0 ? 1e3 : 1e-3));  // with these magnitudes the order of additions changes the bits
  return values;
}

/// Returns the sum of element `i` of the ranks [first, first + width) along the tree. Implements the definition in the
/// contract directly, independently of the backends.
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

inline std::string maximum_findings(Communicator& c) {
  for (int round = 0; round < 5; ++round) {
    c.start_maximum({c.rank(), -c.rank(), round, c.rank() == round ? 7 : 0});
    double work = c.all_reduced(1.0, Op::sum);  // other collectives may run before the maximum is finished
    if (work != c.size()) return "all_reduce during a maximum is wrong; ";
    const auto result = c.finish_maximum();
    if (result != Communicator::Maximum{c.size() - 1, 0, round, round < c.size() ? 7 : 0}) return "maximum is wrong; ";
  }
  return {};
}

inline std::string nan_findings(Communicator& c) {
  const double mine = c.rank() == c.size() - 1 ? std::numeric_limits<double>::quiet_NaN() : c.rank();
  if (!std::isnan(c.all_reduced(mine, Op::min)) || !std::isnan(c.all_reduced(mine, Op::max)))
    return "min or max loses a NaN; ";
  return {};
}

/// Checks that 16-bit types are summed in f32 along the tree and rounded once.
template <class Round, class Widen>
std::string small_float_findings(Communicator& c, DType dtype, Round round, Widen widen) {
  const std::size_t count = 5001;
  std::vector<std::vector<float>> all;
  for (int rank = 0; rank < c.size(); ++rank) {
    all.push_back(values_of<float>(rank, count));
    for (auto& value : all.back()) value = widen(round(value));
  }
  std::size_t width = 1;
  while (width < all.size()) width *= 2;
  std::vector<std::uint16_t> sum, mean;
  for (const float value : all[static_cast<std::size_t>(c.rank())]) sum.push_back(round(value));
  mean = sum;
  c.all_reduce(Buffer{sum.data(), count, dtype}, Op::sum);
  c.all_reduce(Buffer{mean.data(), count, dtype}, Op::mean);
  for (std::size_t i = 0; i < count; ++i) {
    const float expected = tree_sum(all, i, 0, width);
    if (sum[i] != round(expected)) return std::string(name_of(dtype)) + ": sum is not the f32 tree's, rounded once; ";
    if (mean[i] != round(expected / static_cast<float>(c.size()))) return std::string(name_of(dtype)) + ": mean is wrong; ";
  }
  return {};
}

inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  const std::uint32_t below = bits & 0xffffU, kept = bits >> 16;
  return static_cast<std::uint16_t>(kept + ((below > 0x8000U || (below == 0x8000U && (kept & 1U) != 0)) ? 1 : 0));
}
inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline std::uint16_t to_f16(float value) { return std::bit_cast<std::uint16_t>(static_cast<Float16>(value)); }
inline float from_f16(std::uint16_t half) { return static_cast<float>(std::bit_cast<Float16>(half)); }

/// Returns the number of elements of each rank. The numbers differ, and rank 1 has none.
inline std::vector<std::size_t> uneven_counts(int size, std::size_t unit) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < size; ++rank) counts.push_back(rank == 1 ? 0 : unit * static_cast<std::size_t>(rank + 1) + 3);
  return counts;
}

inline std::string part_findings(Communicator& c, std::size_t unit) {
  const auto counts = uneven_counts(c.size(), unit);
  const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto self = static_cast<std::size_t>(c.rank());
  std::vector<std::vector<double>> all;
  for (int rank = 0; rank < c.size(); ++rank) all.push_back(values_of<double>(rank, total));
  std::size_t width = 1;
  while (width < all.size()) width *= 2;

  auto input = all[self];
  std::vector<double> part(counts[self] + 1, -7);
  c.reduce_scatter(Buffer{input.data(), total, DType::f64}, counts, part.data(), Op::sum);
  const auto offset = std::accumulate(counts.begin(), counts.begin() + c.rank(), std::size_t{0});
  for (std::size_t i = 0; i < counts[self]; ++i)
    if (part[i] != tree_sum(all, offset + i, 0, width)) return "reduce_scatter is not the tree's, bit for bit; ";
  if (part.back() != -7) return "reduce_scatter writes past its part; ";
  if (input != all[self]) return "reduce_scatter changes its input; ";

  std::vector<double> gathered(total + 1, -7);
  c.all_gather(part.data(), counts, Buffer{gathered.data(), total, DType::f64});
  for (std::size_t i = 0; i < total; ++i)
    if (gathered[i] != tree_sum(all, i, 0, width)) return "all_gather is wrong; ";
  return gathered.back() == -7 ? "" : "all_gather writes past its buffer; ";
}

/// Starts more collectives than a backend can track at once, of all sizes, in memory of the backend and in other memory.
/// Waits for them in another order.
inline std::string flight_findings(Communicator& c) {
  constexpr std::size_t in_flight = 150;
  const auto window = c.allocate(std::size_t{1} << 20);
  std::vector<std::vector<float>> plain;
  std::vector<Buffer> buffers;
  std::size_t used = 0;
  for (std::size_t k = 0; k < in_flight; ++k) {
    const std::size_t count = k % 5 == 0 ? 1 : k % 5 == 1 ? 300 : k % 5 == 2 ? 5000 : k % 5 == 3 ? 40 : 0;
    auto* data = plain.emplace_back(count).data();
    if (k % 2 == 0 && (used + count * 4 + 64) < (std::size_t{1} << 20)) {
      data = reinterpret_cast<float*>(window.get() + used);
      used += (count * 4 + 63) / 64 * 64;
    }
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(c.rank() + static_cast<int>(k));
    buffers.push_back({data, count, DType::f32});
  }
  std::vector<Communicator::Ticket> tickets;
  for (const auto& buffer : buffers)
    tickets.push_back(
        c.start({.kind = Collective::Kind::all_reduce, .buffer = buffer, .op = Op::max, .name = "in flight"}));
  for (const std::size_t k : {in_flight / 2, std::size_t{0}, in_flight - 1}) c.wait(tickets[k]);
  if (!c.test(tickets[3])) return "a collective before one that is complete is not complete; ";
  for (std::size_t k = 0; k < in_flight; ++k)
    for (std::size_t i = 0; i < buffers[k].count; ++i)
      if (static_cast<float*>(buffers[k].data)[i] != static_cast<float>(c.size() - 1 + static_cast<int>(k)))
        return "a collective in flight is wrong; ";
  return {};
}

/// Checks that the root of a broadcast can start the next collective before the other ranks have read the data.
inline std::string overtaking_findings(Communicator& c) {
  const std::size_t count = std::size_t{1} << 18;
  for (int root = 0; root < std::min(c.size(), 2); ++root) {
    std::vector<float> sent(count, c.rank() == root ? 7.0F : 0.0F), summed(count, 100.0F);
    c.barrier();
    c.start({.kind = Collective::Kind::broadcast, .buffer = {sent.data(), count, DType::f32}, .root = root});
    const auto last = c.start({.kind = Collective::Kind::all_reduce, .buffer = {summed.data(), count, DType::f32}});
    if (c.rank() != root) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    c.wait(last);
    for (std::size_t i = 0; i < count; ++i) {
      if (sent[i] != 7) return "a broadcast is overtaken by the next collective; ";
      if (summed[i] != 100.0F * static_cast<float>(c.size())) return "an all_reduce after a broadcast is wrong; ";
    }
  }
  return {};
}

/// Checks for deadlocks if ranks make the same calls, but call test() and wait() at different times.
inline std::string pace_findings(Communicator& c) {
  std::vector<std::vector<float>> values(6, std::vector<float>(7000));
  for (int round = 0; round < 20; ++round) {
    std::vector<Communicator::Ticket> tickets;
    for (auto& each : values) each.assign(each.size(), 1.0F);
    c.start_maximum({c.rank()});
    for (auto& each : values) {
      tickets.push_back(c.start(
          {.kind = Collective::Kind::all_reduce, .buffer = {each.data(), each.size(), DType::f32}, .name = "pace"}));
      if ((c.rank() + round) % 3 == 0) c.test(tickets.front());
    }
    const auto memory = c.allocate(4096);  // while collectives are in progress
    if ((c.rank() + round) % 2 == 0) c.wait(tickets.back());
    if (c.finish_maximum()[0] != c.size() - 1) return "a maximum among collectives is wrong; ";
    for (const auto ticket : tickets) c.wait(ticket);
    for (const auto& each : values)
      if (each.front() != static_cast<float>(c.size()) || each.back() != each.front())
        return "a sum among maxima is wrong; ";
  }
  return {};
}

/// Checks that a rank can release allocated memory while other ranks continue to use theirs.
inline std::string given_back_findings(Communicator& c) {
  constexpr std::size_t count = 100'000;
  auto memory = c.allocate(count * sizeof(float));
  auto* const values = reinterpret_cast<float*>(memory.get());
  std::fill_n(values, count, 1.0F);
  std::vector<float> plain(count, 1.0F);
  if (c.rank() == 0) memory.reset();
  c.broadcast(Buffer{c.rank() == 0 ? plain.data() : values, count, DType::f32}, 0);
  if (c.size() > 1) c.broadcast(Buffer{c.rank() == 0 ? plain.data() : values, count, DType::f32}, 1);
  for (std::size_t i = 0; i < count; ++i)
    if ((c.rank() == 0 ? plain[i] : values[i]) != 1) return "memory that another rank gave back is lost; ";
  memory.reset();
  const auto next = c.allocate(count * sizeof(float));
  return reinterpret_cast<float*>(next.get())[count - 1] == 0 ? "" : "memory that was released is not zeroed again; ";
}

/// Checks collectives in memory of the backend, at sizes around its internal limits.
inline std::string window_findings(Communicator& c) {
  for (const std::size_t count : {1UL, 2049UL, 16384UL, 300001UL}) {
    const auto memory = c.allocate(count * sizeof(float));
    if (reinterpret_cast<std::uintptr_t>(memory.get()) % 64 != 0) return "allocated memory is not aligned; ";
    auto* values = reinterpret_cast<float*>(memory.get());
    for (std::size_t i = 0; i < count; ++i)
      if (values[i] != 0) return "allocated memory is not zeroed; ";
    std::vector<std::vector<float>> all;
    for (int rank = 0; rank < c.size(); ++rank) all.push_back(values_of<float>(rank, count));
    std::size_t width = 1;
    while (width < all.size()) width *= 2;
    for (int round = 0; round < 3; ++round) {
      std::copy(all[static_cast<std::size_t>(c.rank())].begin(), all[static_cast<std::size_t>(c.rank())].end(), values);
      c.all_reduce(Buffer{values, count, DType::f32}, Op::mean, "window");
      for (std::size_t i = 0; i < count; ++i)
        if (values[i] != tree_sum(all, i, 0, width) / static_cast<float>(c.size())) return "mean in place is wrong; ";
    }
    std::vector<float> copy(count);
    if (c.rank() == 0) values[count - 1] = 42;
    c.broadcast(Buffer{values, count, DType::f32}, 0);
    if (values[count - 1] != 42) return "broadcast in allocated memory is wrong; ";
  }
  return {};
}

/// Checks that the ranks see each other's values in memory that they share. Not every backend has such memory, but then no
/// rank gets any.
inline std::string shared_findings(Communicator& c) {
  constexpr std::size_t each = 10'000;
  const auto ranks = static_cast<std::size_t>(c.size());
  const auto memory = c.allocate_shared(each * ranks * sizeof(float));
  if (c.all_reduced(std::int64_t{memory != nullptr}, Op::sum) % c.size() != 0) return "only some ranks share memory; ";
  if (memory == nullptr) return {};
  auto* const values = reinterpret_cast<float*>(memory.get());
  for (std::size_t i = 0; i < each * ranks; ++i)
    if (values[i] != 0) return "shared memory is not zeroed; ";
  c.barrier();
  std::fill_n(values + each * static_cast<std::size_t>(c.rank()), each, static_cast<float>(c.rank() + 1));
  c.barrier();
  for (std::size_t i = 0; i < each * ranks; ++i)
    if (values[i] != static_cast<float>(i / each + 1)) return "a rank does not see what another wrote to shared memory; ";
  return {};
}

inline std::string split_findings(Communicator& c) {
  const int color = c.rank() % 2 == 0 ? 5 : 9;
  const auto part = c.split(color, -c.rank());  // in reverse order
  const int members = color == 5 ? (c.size() + 1) / 2 : c.size() / 2;
  if (!part || part->size() != members) return "split makes a group of the wrong size; ";
  if (part->rank() != members - 1 - c.rank() / 2) return "split does not number by key; ";
  const int sum = part->all_reduced(c.rank(), Op::sum);
  const int expected = color == 5 ? members * (members - 1) : members * members;
  if (sum != expected) return "a part of a split reduces wrongly; ";
  const auto none = c.split(c.rank() == 0 ? 1 : -1, 0);
  if ((none != nullptr) != (c.rank() == 0)) return "a negative color is given a group; ";
  const auto texts = part->all_gather(std::to_string(c.rank()));
  return texts.back() == std::to_string(color == 5 ? 0 : 1) ? "" : "all_gather in a part is wrong; ";
}

/// Checks that allocate() succeeds for exactly the devices that the communicator reaches, and that all ranks agree on
/// these.
inline std::string reach_findings(Communicator& c) {
  if (!c.reaches(Device::host)) return "the host is not reached; ";
  for (const auto device : {Device::host, Device::cuda}) {
    const auto about = " on " + std::string(name_of(device)) + "; ";
    if (c.all_reduced(c.reaches(device) ? 1 : 0, Op::sum) != (c.reaches(device) ? c.size() : 0))
      return "the ranks do not reach the same devices" + about;
    try {
      const auto memory = c.allocate(64, device);
      if (!c.reaches(device)) return "memory that is not reached is given" + about;
      if (memory == nullptr) return "no memory is given" + about;
    } catch (const UsageError&) {
      if (c.reaches(device)) return "memory that is reached is refused" + about;
    }
  }
  return {};
}

inline std::string bucket_findings(Communicator& c) {
  const std::vector<GradientBuckets::Parameter> parameters = {{"a", 1000}, {"b", 3}, {"c", 0}, {"d", 70000}};
  GradientBuckets buckets(c, parameters, {.bucket_bytes = 4096});
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto* gradient = static_cast<float*>(buckets.gradient(p));
    if (reinterpret_cast<std::uintptr_t>(gradient) % 64 != 0) return "a gradient is not 64-byte aligned; ";
    for (std::size_t i = 0; i < parameters[p].count; ++i) gradient[i] = static_cast<float>(c.rank());
  }
  buckets.average();
  const float expected = static_cast<float>(c.size() - 1) / 2;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t i = 0; i < parameters[p].count; ++i)
      if (static_cast<float*>(buckets.gradient(p))[i] != expected) return "bucket average is wrong; ";
  return {};
}

/// Checks the contract in the header of Communicator. Returns the violations as text, or "". Collective.
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
  findings +=
      small_float_findings(c, DType::bf16, to_bf16, from_bf16) + small_float_findings(c, DType::f16, to_f16, from_f16);
  for (const std::size_t unit : {0UL, 10UL, 3000UL, 70000UL}) findings += part_findings(c, unit);
  findings += flight_findings(c) + window_findings(c) + split_findings(c);
  findings += overtaking_findings(c) + pace_findings(c) + given_back_findings(c) + shared_findings(c);
  return findings + exchange_findings(c) + maximum_findings(c) + reach_findings(c) + nan_findings(c) + bucket_findings(c);
}

}  // namespace trainrt::test
