#include "cli/all_reduce_speed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/host.hpp"

namespace trainrt::cli::doctor {

namespace {

constexpr std::size_t first_bytes = std::size_t{64} << 10;
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr double growth_limit_seconds = 0.2;  // a call of that length is long enough to be measured
constexpr double measured_seconds = 0.5;
constexpr int most_calls = 4096;

/// Seconds a call, on the slowest rank: the same number on all of them.
double seconds_a_call(Communicator& communicator, Buffer buffer, int calls) {
  communicator.barrier();
  const auto start = monotonic_seconds();
  for (int i = 0; i < calls; ++i) communicator.all_reduce(buffer, Op::sum);
  return communicator.all_reduced(monotonic_seconds() - start, Op::max) / calls;
}

double latency(Communicator& communicator, Buffer buffer) {
  double seconds = seconds_a_call(communicator, buffer, 4);
  for (int calls = 8; calls <= most_calls && seconds * calls < measured_seconds / 2; calls *= 2)
    seconds = seconds_a_call(communicator, buffer, calls);
  return seconds;
}

}  // namespace

AllReduceSpeed measure_all_reduce(Communicator& communicator) {
  const auto memory = communicator.allocate(most_bytes);
  const auto part = [&](std::size_t bytes) { return Buffer{memory.get(), bytes / sizeof(float), DType::f32}; };
  AllReduceSpeed speed{.latency_seconds = latency(communicator, part(8)), .bytes = first_bytes};
  double seconds = seconds_a_call(communicator, part(speed.bytes), 1);
  while (speed.bytes < most_bytes && seconds < growth_limit_seconds) {
    speed.bytes *= 4;
    seconds = seconds_a_call(communicator, part(speed.bytes), 1);
  }
  if (seconds < growth_limit_seconds)  // the last call paid for pages that nobody had touched
    seconds =
        seconds_a_call(communicator, part(speed.bytes), std::clamp(static_cast<int>(measured_seconds / seconds), 1, 50));
  speed.bytes_per_second = static_cast<double>(speed.bytes) / seconds;
  return speed;
}

Json to_json(const AllReduceSpeed& speed) {
  return {{"latency_seconds", speed.latency_seconds}, {"bytes", speed.bytes}, {"bytes_per_second", speed.bytes_per_second}};
}

AllReduceSpeed speed_of(const Json& json) {
  return {json.at("latency_seconds"), json.at("bytes"), json.at("bytes_per_second")};
}

std::string to_text(const AllReduceSpeed& speed) {
  return fmt::format("{:.2f} GB/s ({} KiB), 8 bytes in {:.1f} us", speed.bytes_per_second / 1e9, speed.bytes >> 10,
                     speed.latency_seconds * 1e6);
}

}  // namespace trainrt::cli::doctor
