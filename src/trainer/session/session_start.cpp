// The functions of Session that begin an attempt: they prepare the datasets, and restore the State from a checkpoint or
// from a copy in memory.
#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/output/start_report.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/same_bits.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using trainer::StateKind;
using watch::InPhase;
using watch::Phase;

void Session::prepare_datasets(const std::string& checkpoint) {
  const InPhase loading(progress_.life(), Phase::loading);
  datasets_.verify_files();
  if (!datasets_.need_preparation()) return;
  const auto fitted = datasets_.prepare(restoring_.stored_preprocessors(checkpoint));
  if (!fitted.empty()) saving_.add_run_metadata("{\"preprocessors\":" + fitted + "}");
}

bool Session::restore(State& state) {
  if (progress_.has_begun()) throw UsageError("restore() must be called before the first step() and report()");
  require_training("restore()");
  saving_.attach(state, state.empty() ? StateKind::empty_state : StateKind::state);
  const bool restored = load();
  attempt_.meter.state_restored();
  StartReport::of_process().end_part("set-up and restore");
  return restored;
}

bool Session::restore_without_state() {
  if (progress_.has_begun()) throw UsageError("restore() must be called before the first step() and report()");
  require_training("restore()");
  saving_.attach({}, StateKind::directories);
  return load();
}

/// Restores the attached State, opens the metrics files, and prepares saves. Returns whether a checkpoint was loaded.
bool Session::load() {
  fault_point("load");
  attempt_.meter.note_api_call();
  const InPhase loading(progress_.life(), Phase::loading);
  std::optional<trainer::Restoring::Copy> copy;
  if (saving_.copies_state())
    if (auto note = copies_.begin(saving_.state()))
      copy = {.note = std::move(*note), .load = [this] { copies_.load(saving_.state()); }};
  auto restored = restoring_.restore(saving_.state(), saving_.covers(), copy);
  copies_.begin_training(restored.is_from_copy);
  if (restored.is_from_copy) attempt_.meter.note_copy();
  attempt_.bits.libraries = trainer::libraries_of_ranks(communicator_);
  if (restored.is_from_copy)
    trainer::check_libraries_of_newest(spec_, attempt_.bits.libraries, communicator_);
  else if (restored.is_of_this_run)
    trainer::check_libraries(spec_, restored.bits, checkpoint::directory_name(restored.checkpoint->number),
                             attempt_.bits.libraries);
  const auto accept = [&] {
    if (attempt_.accept_config) attempt_.accept_config(restored.is_of_this_run);
  };
  comm::collectively(communicator_, accept, trainer::with_advice);
  saving_.begin_from(restored);
  observation_.set_last_metrics(std::move(restored.metrics));
  observation_.begin({.iteration = progress_.iteration(),
                      .iteration_s = restored.iteration_s,
                      .reports_of = restored.reports_of,
                      .begins_now = saving_.saves_state()});
  saving_.prepare();
  stops_.take_restored(saving_.state());
  if ((restored.checkpoint || restored.is_from_copy) && restored.is_of_this_run)
    observation_.note_restored(progress_.iteration());
  stop_if_asked();  // a stop may have been requested during a long load
  return restored.checkpoint.has_value() || restored.is_from_copy;
}

void Session::load_from(const State& state, const std::string& checkpoint) {
  throw_if_stopped();
  attempt_.meter.note_api_call();
  const InPhase loading(progress_.life(), Phase::loading);
  restoring_.load(state, checkpoint);
  attempt_.meter.state_restored();
  StartReport::of_process().end_part("set-up and restore");
}

}  // namespace trainrt
