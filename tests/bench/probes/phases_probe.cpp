// Measures the cost of timing the phases of a step, and tests that slow ranks are named, and only those. Ranks are threads.
//   phases_probe cost STEPS           two ranks compute steps of 1 ms; prints the cost of timing one step in us
//   phases_probe clean WINDOWS DIR    groups of four ranks sleep for equally long steps; prints in how many windows a rank
//                                     was named
//   phases_probe planted RUNS DIR     like `clean`, but one rank takes 2 ms more than 10 ms; prints how often it was named
//                                     after 50 steps
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/cpp/ranks.hpp"
#include "support/cpp/slow_ranks.hpp"

using namespace trainrt;
using trainer::SpeedWatch;
using watch::Work;

namespace {

constexpr int groups_at_once = 8, ranks = 4;
const std::map<Work, double> ten_ms = {{Work::input, 2}, {Work::forward, 4}, {Work::backward, 4}, {Work::save, 10}};

void compute(double seconds) {
  for (const auto end = monotonic_seconds() + seconds; monotonic_seconds() < end;) continue;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Returns the seconds that one step spends on reading the clock: at the start and at the wait of the gradients and of the
/// vote.
double clocks_of_a_step() {
  constexpr int calls = 4, tries = 100000;
  const auto began_s = monotonic_seconds();
  for (int i = 0; i < tries; ++i) monotonic_seconds();
  return 2 * calls * (monotonic_seconds() - began_s) / tries;
}

/// Returns the cost in seconds of timing a step of 1 ms, on the rank that waits less for the other rank. The cost is
/// the median time of end_step(), plus the share of the calls that end a window, of which there is one in half a
/// second. Medians are used because other programs interrupt some calls.
double cost_of_a_step(int steps) {
  constexpr double step_s = 0.001, window_s = 0.5, ends_window_s = 5e-6;
  std::mutex mutex;
  double cost_s = 1;
  test::run_ranks(
      2,
      [&](Communicator& inner) {
        comm::TimedCommunicator communicator(inner);
        SpeedWatch watch(communicator, {"/dev/null", {}, [] { return 0.0; }});
        std::vector<double> all, windows;
        for (int step = 0; step < steps; ++step) {
          compute(step_s);
          communicator.barrier();
          const auto began_s = monotonic_seconds();
          watch.end_step(step);
          all.push_back(monotonic_seconds() - began_s);
          if (all.back() > ends_window_s) windows.push_back(all.back());
        }
        const auto mine = median(all) + median(windows) * step_s / window_s + clocks_of_a_step();
        const std::lock_guard lock(mutex);
        cost_s = std::min(cost_s, mine);
      },
      600);
  return cost_s;
}

template <class Work>
void in_groups(Work work) {
  std::vector<std::thread> groups;
  for (int group = 0; group < groups_at_once; ++group) groups.emplace_back([&work, group] { work(group); });
  for (auto& group : groups) group.join();
}

int named_in_clean(int windows, const std::string& folder) {
  std::atomic<int> named = 0;
  in_groups([&](int group) {
    const test::SleepingRank::Plan plan{.work = ten_ms};
    test::run_ranks(
        ranks,
        [&](Communicator& inner) {
          test::SleepingRank rank(plan, inner, folder + "/clean-" + std::to_string(group));
          for (int step = 1; step <= 50 * windows / groups_at_once + 1; ++step) {
            rank.step(step);
            if (inner.rank() == 0 && step % 50 == 1 && rank.watch().finding()) ++named;
          }
        },
        600);
  });
  return named;
}

int named_right(int runs, const std::string& folder) {
  std::atomic<int> right = 0;
  in_groups([&](int group) {
    for (int run = group; run < runs; run += groups_at_once) {
      test::SleepingRank::Plan plan{.work = ten_ms, .rank = run % ranks, .more = 2};
      plan.planted =
          std::array{Work::input, Work::forward, Work::backward, Work::save}[static_cast<std::size_t>(run / ranks % 4)];
      if (plan.planted == Work::save) plan.more *= plan.save_every;
      test::run_ranks(ranks, [&](Communicator& inner) {
        test::SleepingRank rank(plan, inner, folder + "/planted-" + std::to_string(run));
        for (int step = 1; step <= 51; ++step) rank.step(step);
        const auto found = rank.watch().finding();
        if (inner.rank() == 0 && found && static_cast<int>(found->slow.rank) == plan.rank &&
            found->slow.work == plan.planted)
          ++right;
      });
    }
  });
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  const std::string folder = argc > 3 ? argv[3] : ".";
  if (what == "cost")
    std::printf("cost_us=%.4f\n", 1e6 * cost_of_a_step(count));
  else if (what == "clean")
    std::printf("named=%d\n", named_in_clean(count, folder));
  else if (what == "planted")
    std::printf("right=%d\n", named_right(count, folder));
  else
    return 64;
}
