// The end of a session: what is under way is waited for, and how it ended is known.
#include <fmt/format.h>

#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using watch::InPhase;
using watch::Phase;

void Session::finish() {
  fault_point("finish");
  life_.progress(progress_.step, Phase::finishing);
  throw_if_stopped();
  vote_.finish();
  saves_.finish();
  if (saves_state() && !is_saved())
    log::run_warning(fmt::format(
        "the train function returned at {} without saving: what came after {} is not kept. Let it call ctx.save() at "
        "its end",
        rundir::short_point(progress_.step, progress_.iteration), saves_.newest()));
}

void Session::settle() {
  const InPhase saving(life_, Phase::checkpoint);
  vote_.finish();
  saves_.finish();
  comm::collectively(
      communicator_, [&] { saves_.drain(); }, trainer::with_advice);
}

/// One that was started.
bool Session::is_silent_program() const { return is_silent() && attempt_.meter.train_function_has_begun(); }

trainer::Ending Session::ending() const {
  using Kind = trainer::Ending::Kind;
  const bool early = stopped_by_ == batch::ended_early;
  const bool has_nothing_to_lose = early && !saves_state();  // a function without a State keeps nothing
  const auto kind = stopped_by_ == batch::no_stop        ? Kind::finished
                    : early                              ? Kind::finished_early
                    : has_begun() || is_silent_program() ? Kind::stopped
                                                         : Kind::not_begun;
  return {kind,
          kind == Kind::finished ? "" : stops_.describe(stopped_by_),
          loses_nothing() || has_nothing_to_lose,
          progress_.step,
          progress_.iteration,
          is_silent(),
          saves_by_directory_ ? place() : "",
          stopped_by_ == batch::slow_node ? stops_.slow_node() : ""};
}

void Session::close() {
  fault_point("close");
  if (has_begun() && !is_silent()) warn_of_unread_keys("its end");
  attempt_.meter.training_ended();
  life_.progress(progress_.step, Phase::finishing);
  // A run that was stopped before it restored has reports that nobody has read yet: they stay as they are.
  // Of a silent program those of earlier attempts are kept: that this one has shown nothing does not undo them.
  if (!reports_begun_ && stopped_by_ == batch::no_stop) begin_reports(is_silent() ? records_before({}, 0) : 0);
  const auto settle = [&] {
    saves_.drain();
    if (!reports_begun_) return;
    reporter_->sync();
    reporter_->end();
  };
  comm::collectively(communicator_, settle, trainer::with_advice);
}

}  // namespace trainrt
