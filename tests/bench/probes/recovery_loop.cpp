// A train function whose steps take a given time, with a State of a given size. Prints the mean time of a step, for
// bench_recovery.py.
#include <chrono>
#include <cstdio>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

using Clock = std::chrono::steady_clock;

void recovery_loop(trainrt::Context& ctx) {
  const int steps = ctx.config<int>("steps", 1000);
  const std::chrono::duration<double> step_time(ctx.config<double>("step_s", 0.01));
  std::vector<float> weights(static_cast<std::size_t>(ctx.config<int>("floats", 1 << 20)));
  std::vector<float> gradient(1024, 1.0F);
  int step = 0;
  trainrt::State state;
  state.tensor("weights", weights);
  state.value("step", step);
  ctx.restore(state);
  const auto begin = Clock::now();
  const int first = step;
  while (step < steps) {
    const auto until = Clock::now() + step_time;
    ctx.communicator().all_reduce(gradient, trainrt::Op::mean);
    for (std::size_t i = 0; Clock::now() < until; i = (i + 1) % weights.size()) weights[i] += gradient[i % gradient.size()];
    ++step;
    ctx.step();
  }
  const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
  if (ctx.world_rank() == 0) std::printf("step_us=%.3f\n", took.count() / (steps - first));
  std::fflush(stdout);
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("recovery_loop", recovery_loop);
