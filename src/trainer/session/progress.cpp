#include "trainer/session/progress.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/output/start_report.hpp"

namespace trainrt::trainer {

Progress::Progress(std::uint64_t seed, rundir::Meter& meter, Communicator& communicator)
    : ranks_(communicator.size()),
      seed_(static_cast<std::int64_t>(seed)),
      given_seed_(seed_),
      meter_(meter),
      communicator_(communicator),
      iteration_began_s_(monotonic_seconds()) {}

void Progress::attach(State& state) {
  state.value("trainrt/iteration", iteration_);
  state.value("trainrt/step", step_);
  state.value("trainrt/ranks", ranks_);
  state.value("trainrt/seed", seed_);
}

void Progress::complete_step() {
  ++step_;
  has_stepped_ = true;
  meter_.stepped(step_);
  StartReport::of_process().end_first_step();
  life_.progress(step_, watch::Phase::training);
  communicator_.at_step(step_);
}

void Progress::complete_iteration(std::int64_t iteration) {
  iteration_ = iteration;
  begin_iteration(0);
  has_reported_ = true;
  meter_.reported(iteration);
  StartReport::of_process().end_first_step();
}

bool Progress::take_stepped() { return std::exchange(has_stepped_, false); }

void Progress::complete_observation(double position, std::int64_t iteration) {
  iteration_ = iteration;
  begin_iteration(0);
  meter_.observed(position, iteration);
  StartReport::of_process().end_first_step();
  life_.progress(step_);
  communicator_.at_step(step_);
}

void Progress::begin_iteration(double elapsed_s) { iteration_began_s_ = monotonic_seconds() - elapsed_s; }

double Progress::iteration_s() const { return monotonic_seconds() - iteration_began_s_; }

void Progress::resume(std::int64_t checkpoint, const std::optional<RunPoint>& saved) {
  if (seed_ != given_seed_)
    throw comm::AgreedError(
        fmt::format("run.seed is {}, but the run began with run.seed = {}. "
                    "The seed of a run cannot change: restore the old value, or choose another run.name to start a new run",
                    given_seed_, seed_),
        ExitCode::usage);
  ranks_ = communicator_.size();
  meter_.restored(step_, iteration_, checkpoint);
  if (saved) meter_.committed(saved->step, saved->iteration, checkpoint);
}

void Progress::start_from_other_run(bool continues_iterations) {
  if (!continues_iterations) iteration_ = 0;
  ranks_ = communicator_.size();
  seed_ = given_seed_;
  meter_.restored(step_, iteration_, -1);
}

}  // namespace trainrt::trainer
