// A train function that only reports. Prints the median time of report(), for bench_report.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

void report_loop(trainrt::Context& ctx) {
  const int reports = ctx.config<int>("reports", 2000);
  std::vector<double> microseconds;
  for (int i = 0; i < reports; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ctx.report({{"loss", 1.0 / (1 + i)}, {"accuracy", trainrt::ratio(i, reports)}, {"lr", 0.1}});
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    microseconds.push_back(took.count());
  }
  std::nth_element(microseconds.begin(), microseconds.begin() + reports / 2, microseconds.end());
  if (ctx.world_rank() == 0) std::printf("report_median_us=%.3f\n", microseconds[static_cast<std::size_t>(reports / 2)]);
  std::fflush(stdout);
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("report_loop", report_loop);
