// Tests of Progress, which counts steps and iterations and measures their duration.
#include "trainer/session/progress.hpp"

#include <catch2/catch.hpp>
#include <trainrt/communicators.hpp>

#include "comm/agreement.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;
using trainer::Progress;

namespace {

/// Sets a value of an attached State, as a load does.
void set(const State& state, const std::string& name, std::int64_t number) {
  for (const auto& entry : state.values())
    if (entry.name == name) *std::get<std::int64_t*>(entry.value) = number;
}

struct OneRank {
  std::unique_ptr<Communicator> communicator = self_communicator();
  rundir::Meter meter{0};
  Progress progress{7, meter, *communicator};
  State state;
  OneRank() { progress.attach(state); }
};

}  // namespace

TEST_CASE("a completed step is passed on to the meter and to the watches") {
  OneRank rank;
  CHECK_FALSE(rank.progress.has_begun());
  rank.progress.complete_step();
  rank.progress.complete_step();
  CHECK(rank.progress.step() == 2);
  CHECK(rank.progress.has_begun());
  CHECK(rank.meter.read().last_step == 2);
  CHECK(rank.progress.life().snapshot().step == 2);
  CHECK(rank.progress.life().snapshot().phase == watch::Phase::training);
}

TEST_CASE("take_stepped() returns whether a step was completed since the last call") {
  OneRank rank;
  CHECK_FALSE(rank.progress.take_stepped());
  rank.progress.complete_step();
  CHECK(rank.progress.take_stepped());
  CHECK_FALSE(rank.progress.take_stepped());
}

TEST_CASE("a completed iteration is reported, and the next one begins at that moment") {
  OneRank rank;
  rank.progress.begin_iteration(100);
  CHECK(rank.progress.iteration_s() >= 100);
  CHECK_FALSE(rank.progress.has_reported());
  rank.progress.complete_iteration(1);
  CHECK(rank.progress.has_reported());
  CHECK(rank.progress.iteration_s() < 50);
  CHECK(rank.meter.read().iteration == 1);
  CHECK(rank.progress.point() == trainer::RunPoint{.iteration = 1, .step = 0});
}

TEST_CASE("a run that resumes keeps its point, and records it in the meter") {
  OneRank rank;
  set(rank.state, "trainrt/step", 30);
  set(rank.state, "trainrt/iteration", 3);
  rank.progress.resume(2);
  CHECK(rank.progress.point() == trainer::RunPoint{.iteration = 3, .step = 30});
  const auto reading = rank.meter.read();
  CHECK((reading.first_step == 30 && reading.saved_checkpoint == 2));
}

TEST_CASE("a run that resumes with another seed is refused with both seeds") {
  OneRank rank;
  set(rank.state, "trainrt/seed", 8);
  CHECK_THROWS_AS(rank.progress.resume(0), comm::AgreedError);
  CHECK_THROWS_WITH(rank.progress.resume(0), Contains("run.seed is 7") && Contains("run.seed = 8"));
}

TEST_CASE("a run that starts from another run keeps its own seed, and counts iterations from 0 unless they continue") {
  for (const bool continues : {false, true}) {
    OneRank rank;
    set(rank.state, "trainrt/step", 30);
    set(rank.state, "trainrt/iteration", 3);
    set(rank.state, "trainrt/seed", 8);
    rank.progress.start_from_other_run(continues);
    CHECK(rank.progress.point() == trainer::RunPoint{.iteration = continues ? 3 : 0, .step = 30});
    CHECK_NOTHROW(rank.progress.resume(0));
  }
}

TEST_CASE("an observed position is the step of the run") {
  OneRank rank;
  rank.progress.set_observed_step(12.5);
  rank.progress.complete_observation(12.5, 4);
  CHECK(rank.progress.point() == trainer::RunPoint{.iteration = 4, .step = 12});
  CHECK(rank.progress.life().snapshot().step == 12);
  CHECK_FALSE(rank.progress.has_reported());
}
