// Simulates recovery from copies of the State in memory: ranks are killed at every point of copying and restoring. The
// State and the reports must be those of an undisturbed run. A failure prints its seed; TRAINRT_SIMULATION_SEED=N repeats
// one seed, and TRAINRT_SIMULATION_SEEDS=N simulates N seeds.
#include <csignal>
#include <cstdlib>
#include <iostream>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "support/cpp/captured_errors.hpp"
#include "unit/trainer/recovery/simulated_run.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

constexpr std::int64_t default_seeds = 200;

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoll(text) : otherwise;
}

}  // namespace

TEST_CASE("a run whose ranks die at any point ends with the bits and reports of an undisturbed run") {
  const auto one = number_from("TRAINRT_SIMULATION_SEED", -1);
  const auto first = one >= 0 ? one : 0, end = one >= 0 ? one + 1 : number_from("TRAINRT_SIMULATION_SEEDS", default_seeds);
  std::signal(SIGXFSZ, SIG_IGN);                                       // a reservation beyond the limit fails with EFBIG
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);  // the disk would take most of the time
  const Scratch folder;
  auto spec = spec_in(folder.path(), {{"failure.recovery", "live"}, {"failure.max_failures", "1000"}});
  spec.data.clear();
  SimulatedEvents all;
  for (auto seed = first; seed < end; ++seed) {
    INFO("seed " << seed);
    spec.run_dir = folder / std::to_string(seed);
    std::string error, output;
    {
      const CapturedErrors captured;
      SimulatedRun run(Plan(static_cast<std::uint64_t>(seed)), spec);
      error = run.run();
      if (!error.empty()) output = captured.text();
      all += run.events();
    }
    INFO(output);
    CHECK(error == "");
    std::filesystem::remove_all(spec.run_dir);
  }
  if (one >= 0) return;
  if (end > default_seeds) std::cout << all.text() << "\n";
  CHECK((all.from_copy > 0 && all.from_checkpoint > 0 && all.from_start > 0));
  CHECK((all.withdrawn > 0 && all.kills_of_all > 0 && all.failed_reservations > 0 && all.damages > 0));
}
