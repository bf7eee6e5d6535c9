#include "cli/doctor/all_reduce_speed.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "core/host.hpp"

namespace trainrt::cli::doctor {

namespace {

constexpr std::size_t first_bytes = std::size_t{64} << 10;
constexpr std::size_t most_reduced_bytes = std::size_t{16} << 20;
constexpr double long_call_seconds = 0.2;  // is measured as it is
constexpr double series_seconds = 0.1;
constexpr int series = 4;  // the best counts: what other processes do on these cores is not the network's
constexpr int most_calls = 2048;

/// Seconds a call, on the slowest rank: the same number on all of them.
double seconds_a_call(Communicator& communicator, Buffer buffer, int calls) {
  communicator.barrier();
  const auto start = monotonic_seconds();
  for (int i = 0; i < calls; ++i) communicator.all_reduce(buffer, Op::sum);
  return communicator.all_reduced(monotonic_seconds() - start, Op::max) / calls;
}

double best_of_series(Communicator& communicator, Buffer buffer) {
  double seconds = seconds_a_call(communicator, buffer, 1);  // touches pages and makes connections
  for (int i = 0; i < series && seconds < long_call_seconds; ++i) {
    const auto calls = std::clamp(static_cast<int>(series_seconds / seconds), 1, most_calls);
    seconds = std::min(seconds, seconds_a_call(communicator, buffer, calls));
  }
  return seconds;
}

/// Sums numbers that are known. The same answer on every rank.
bool sums_are_right(Communicator& communicator, Buffer buffer) {
  const auto number_of = [](int rank) { return static_cast<float>(rank % 16 + 1); };  // exact in f32, for a million ranks
  const std::span numbers(static_cast<float*>(buffer.data), buffer.count);
  std::ranges::fill(numbers, number_of(communicator.rank()));
  communicator.all_reduce(buffer, Op::sum);
  float sum = 0;
  for (int rank = 0; rank < communicator.size(); ++rank) sum += number_of(rank);
  const bool mine = std::ranges::all_of(numbers, [&](float number) { return number == sum; });
  return communicator.all_reduced(std::int64_t{mine}, Op::min) == 1;
}

}  // namespace

AllReduceSpeed measure_all_reduce(Communicator& communicator) {
  const auto memory = communicator.allocate(most_reduced_bytes);
  const auto part = [&](std::size_t bytes) { return Buffer{memory.get(), bytes / sizeof(float), DType::f32}; };
  AllReduceSpeed speed{.latency_seconds = best_of_series(communicator, part(8)), .bytes = first_bytes};
  double seconds = seconds_a_call(communicator, part(speed.bytes), 1);
  for (; speed.bytes < most_reduced_bytes && seconds < long_call_seconds / 4; speed.bytes *= 4)
    seconds = seconds_a_call(communicator, part(4 * speed.bytes), 1);
  seconds = std::min(seconds, best_of_series(communicator, part(speed.bytes)));
  speed.bytes_per_second = static_cast<double>(speed.bytes) / seconds;
  speed.right = sums_are_right(communicator, part(speed.bytes));
  return speed;
}

Json to_json(const AllReduceSpeed& speed) {
  return {{"latency_seconds", speed.latency_seconds},
          {"bytes", speed.bytes},
          {"bytes_per_second", speed.bytes_per_second},
          {"right", speed.right}};
}

AllReduceSpeed speed_of(const Json& json) {
  return {json.at("latency_seconds"), json.at("bytes"), json.at("bytes_per_second"), json.at("right")};
}

std::string to_text(const AllReduceSpeed& speed) {
  return fmt::format("{:.2f} GB/s ({} KiB), 8 bytes in {:.1f} us", speed.bytes_per_second / 1e9, speed.bytes >> 10,
                     speed.latency_seconds * 1e6);
}

}  // namespace trainrt::cli::doctor
