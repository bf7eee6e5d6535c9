// The functions of Session that end an attempt: they wait for the checkpoint in flight, complete the files, and return how
// the attempt ended.
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using watch::InPhase;
using watch::Phase;

void Session::finish() {
  fault_point("finish");
  progress_.stay_alive(Phase::finishing);
  throw_if_stopped();
  vote_.finish();
  saving_.finish();
}

void Session::settle() {
  const InPhase settling(progress_.life(), Phase::checkpoint);
  vote_.finish();
  saving_.settle();
}

void Session::close() {
  fault_point("close");
  const bool has_begun = saving_.is_attached() || progress_.has_begun();
  if (has_begun && !is_silent()) warn_of_unread_keys("its end");
  attempt_.meter.training_ended();
  progress_.stay_alive(Phase::finishing);
  // If the attempt was stopped before a restore, the reports of earlier attempts must stay unchanged.
  if (!observation_.has_begun() && stopped_by_ == batch::no_stop) {
    if (has_begun)
      observation_.begin({});
    else
      observation_.begin_without_progress();
  }
  const auto complete_files = [&] {
    saving_.drain();
    observation_.end();
  };
  comm::collectively(communicator_, complete_files, trainer::with_advice);
}

trainer::Ending Session::ending() const {
  using Kind = trainer::Ending::Kind;
  const auto kind = ending_kind();
  const bool keeps_nothing = kind == Kind::finished_early && !saving_.saves_state();
  return {.kind = kind,
          .reason = kind == Kind::finished ? "" : stops_.describe(stopped_by_),
          .saved = saving_.loses_nothing() || keeps_nothing,
          .step = progress_.step(),
          .iteration = progress_.iteration(),
          .silent = is_silent(),
          .resumes_from = saving_.continues_from(),
          .slow_node = stopped_by_ == batch::slow_node ? stops_.slow_node() : ""};
}

trainer::Ending::Kind Session::ending_kind() const {
  using Kind = trainer::Ending::Kind;
  if (stopped_by_ == batch::no_stop) return Kind::finished;
  if (stopped_by_ == batch::ended_early) return Kind::finished_early;
  const bool has_begun = saving_.is_attached() || progress_.has_begun();
  const bool is_started_program = is_silent() && attempt_.meter.train_function_has_begun();
  return has_begun || is_started_program ? Kind::stopped : Kind::not_begun;
}

}  // namespace trainrt
