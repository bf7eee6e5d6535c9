// A train function for bench_scale.py. Its steps compute for a millisecond and average a small gradient; blocks of steps
// with and without step() alternate. Because of the average, the ranks wait for each other in both kinds of blocks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

using Clock = std::chrono::steady_clock;

/// Does `amount` rounds of arithmetic that the compiler cannot remove.
double work(std::int64_t amount) {
  volatile double x = 1;
  for (std::int64_t i = 0; i < amount; ++i) x = x * 0.999999 + 1e-6;
  return x;
}

double seconds_of(const auto& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns the amount of work that takes a millisecond, from the fastest of many tries.
std::int64_t a_millisecond() {
  constexpr std::int64_t tried = 100'000;
  double fastest = 1;
  for (int i = 0; i < 200; ++i) fastest = std::min(fastest, seconds_of([] { work(tried); }));
  return static_cast<std::int64_t>(1e-3 / fastest * tried);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the median seconds of a step, on which a few disturbed steps have no effect.
double median_step(trainrt::Context& ctx, std::vector<float>& gradient, int steps, std::int64_t amount, bool with_vote) {
  ctx.communicator().barrier();
  std::vector<double> taken;
  for (int i = 0; i < steps; ++i)
    taken.push_back(seconds_of([&] {
      work(amount);
      ctx.communicator().all_reduce(gradient, trainrt::Op::mean);
      if (with_vote) ctx.step();
    }));
  return median(taken);
}

void vote_loop(trainrt::Context& ctx) {
  trainrt::State state;
  ctx.restore(state);
  const auto amount = ctx.communicator().all_reduced(a_millisecond(), trainrt::Op::max);
  std::vector<float> gradient(1000);
  std::vector<double> overheads, plain;
  for (int block = 0; block < ctx.config<int>("blocks", 20); ++block) {
    const auto without = median_step(ctx, gradient, 200, amount, false);
    const auto with = median_step(ctx, gradient, 200, amount, true);
    plain.push_back(without);
    overheads.push_back(100 * (with / without - 1));
  }
  if (ctx.world_rank() == 0) std::printf("step_ms=%.4f vote_percent=%.4f\n", 1e3 * median(plain), median(overheads));
  std::fflush(stdout);
  ctx.save();
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("vote_loop", vote_loop);
