#include "trainer/session/session.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "config/program_settings.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "device/runtime.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt {

using trainer::StateKind;
using trainer::StopVote;
using watch::InPhase;
using watch::Phase;

Session::Session(SessionSetup setup)
    : spec_(setup.spec),
      world_(setup.world),
      communicator_(setup.communicator),
      attempt_(std::move(setup.attempt)),
      vote_(communicator_),
      stops_(spec_, attempt_.lease, attempt_.hosts),
      datasets_(spec_, communicator_, attempt_.workers, attempt_.datasets, attempt_.shares),
      progress_(spec_.run.seed, attempt_.meter, communicator_),
      observation_({.spec = spec_,
                    .communicator = communicator_,
                    .attempt = attempt_,
                    .progress = progress_,
                    .datasets = datasets_,
                    .stops = stops_}),
      restoring_({.spec = spec_,
                  .communicator = communicator_,
                  .progress = progress_,
                  .datasets = datasets_,
                  .run_id = attempt_.run_id,
                  .private_dir = attempt_.private_dir,
                  .checkpoints = attempt_.earlier.listed}),
      copies_(spec_, attempt_.run_id, communicator_, trainer::file_for_copies()),
      saving_({.spec = spec_,
               .world = world_,
               .attempt = attempt_,
               .communicator = communicator_,
               .progress = progress_,
               .observation = observation_,
               .stops = stops_,
               .datasets = datasets_}) {
  if (!world_.gpus.empty() && spec_.train.program.empty()) datasets_.pin_for(device::runtime());
}

// --- checks and warnings ----------------------------------------------------------------------------------------------

void Session::throw_if_stopped() const {
  if (stopped_by_ != batch::no_stop) throw StopRun{};
}

/// Throws UsageError in a prediction or check, which has no run to save or report. `call` names the function in the
/// message.
void Session::require_training(std::string_view call) const {
  if (!attempt_.is_run)
    throw UsageError(
        fmt::format("the train function's predict or check called {}, which is allowed only during training", call));
}

/// Logs a warning, once, for each [loop] key that the train function has not read. `until` names the moment in the message.
void Session::warn_of_unread_keys(std::string_view until) {
  if (std::exchange(has_warned_of_keys_, true)) return;
  std::vector<std::string> missing;  // keys that the function has read, and that [loop] lacks
  for (const auto& key : read_keys_)
    if (!spec_.loop.has(key)) missing.push_back(key);
  for (const auto& key : spec_.loop.keys())
    if (!read_keys_.contains(key) && !config::is_record_of_python(key) &&
        spec_.loop.find(key)->origin != config::origin_of_program)
      log::run_warning(
          fmt::format("[loop] {} was not read by the train function before {}: check the spelling of the key{}", key, until,
                      did_you_mean(key, missing)));
}

// --- values and services ----------------------------------------------------------------------------------------------

const OptionValue* Session::loop_value(std::string_view key) {
  read_keys_.emplace(key);
  return spec_.loop_value(key);
}

std::string Session::similar_loop_key(std::string_view key) const {
  std::vector<std::string> unread;
  for (const auto& given : spec_.loop.keys())
    if (!read_keys_.contains(given) && !config::is_record_of_python(given)) unread.push_back(given);
  const auto near = nearest(key, unread);
  if (near.empty()) return "";
  const auto& origin = spec_.loop.find(near)->origin;
  return fmt::format("; {}[loop] has '{}': did you mean '{}'?", origin.empty() ? "" : origin + ": ", near, key);
}

FrameworkMeeting Session::framework(Context& ctx, const std::string& name) {
  if (!attempt_.framework)
    throw UsageError(
        fmt::format("Context::framework(\"{}\") is not available in a program with its own main(): "
                    "only the command trainrt starts the service through which the workers of {} find each other",
                    name, name));
  return meetings_.emplace_back(attempt_.framework(ctx, name));
}

// --- steps and stops --------------------------------------------------------------------------------------------------

void Session::step() {
  throw_if_stopped();
  require_training("step()");
  fault_point("step");
  attempt_.meter.note_api_call();
  saving_.warn_if_unattached();
  warn_of_unread_keys("its first step");
  note_stop_point();
  progress_.complete_step();
  const auto outcome = vote_.finish();
  saving_.advance(outcome.saves);
  saving_.compare_replicas_if_due();
  saving_.compare_first_values();
  obey(outcome, spec_.checkpoint.every.due_at_step(progress_.step()));
  copy_if_due();
  vote_.start(ballot(), StopVote::Call::step);
  observation_.speeds().end_step(progress_.step());
}

void Session::stop_point() {
  throw_if_stopped();
  progress_.stay_alive();
  stops_.warn_of_margin();
  const auto outcome = vote_.finish();
  saving_.advance(outcome.saves);
  obey(outcome, false);
  vote_.start(ballot(), StopVote::Call::stop_point);
}

void Session::stop_if_asked() {
  vote_.finish();
  obey(vote_.now(ballot(), StopVote::Call::stop_point), false);
}

void Session::save_now() {
  throw_if_stopped();
  require_training("save()");
  if (!saving_.is_attached()) throw UsageError("save() must be called after restore(), which attaches the State to save");
  const auto outcome = vote_.finish();
  note_stop_point();
  saving_.save_and_wait();
  obey(outcome, false);
}

/// Records the present positions in datasets, the time of this stop point, and the time left in the job. If the run stops
/// before the next step, the checkpoint contains these positions.
void Session::note_stop_point() {
  datasets_.update_positions();
  stops_.note_point();
  if (attempt_.lease != nullptr) attempt_.meter.note_job_left(attempt_.lease->remaining());
}

/// Copies the State into memory if a copy is due. While a checkpoint is in flight, the memory of a program's State must not
/// change, so no copy is made then.
void Session::copy_if_due() {
  if (!copies_.is_due(!saving_.is_in_flight())) return;
  const rundir::Meter::Stall stall(attempt_.meter);
  const trainer::SpeedWatch::InWork at(observation_.speeds(), watch::Work::save);
  const InPhase copying(progress_.life(), Phase::checkpoint);
  copies_.copy(saving_.state(), {.step = progress_.step(),
                                 .iteration = progress_.iteration(),
                                 .iteration_s = progress_.iteration_s(),
                                 .metrics = observation_.last_metrics()});
}

/// Returns this rank's ballot for a StopVote. `directory` is the argument that this rank passed to report(), or nullptr.
StopVote::Ballot Session::ballot(const DirectoryCheckpoint* directory) const {
  using Wants = StopVote::Wants;
  const bool has_directory = directory != nullptr && (!directory->path.empty() || directory->state != nullptr);
  const auto wants = has_directory ? Wants::directory : saving_.is_due_by_clock() ? Wants::checkpoint : Wants::nothing;
  return {.stop = stops_.cause(), .wants = wants, .saves = saving_.progress()};
}

/// Saves and stops according to the outcome of the vote. Throws StopRun if the run stops. `is_checkpoint_due` is true if
/// config key checkpoint.every asks for a checkpoint at this step or report. `reported` is the content that was passed to
/// report(), or nullptr.
void Session::obey(const StopVote::Outcome& outcome, bool is_checkpoint_due, const trainer::ReportedCheckpoint* reported) {
  if (outcome.stop == batch::ended_early && stops_.agree_on_end(communicator_)) saving_.outdate();
  const bool is_due = is_checkpoint_due || outcome.wants != StopVote::Wants::nothing;
  if (reported != nullptr || (is_due && saving_.saves_state())) saving_.start(reported);
  if (outcome.stop != batch::no_stop) stop(outcome.stop);
}

void Session::stop(batch::StopCause cause) {
  if (cause == batch::time_is_up) stops_.log_time_left();
  saving_.save_at_stop(cause);
  stopped_by_ = cause;
  progress_.stay_alive(Phase::finishing);  // programs may take long to end
  throw StopRun{};
}

// --- reports ----------------------------------------------------------------------------------------------------------

void Session::report(const Metrics& metrics, const ReportOptions& options, const DirectoryCheckpoint* directory) {
  throw_if_stopped();
  require_training("report()");
  fault_point("report");
  const trainer::SpeedWatch::InWork at(observation_.speeds(), watch::Work::report);
  begin_report();
  auto outcome = vote_on_report(options, directory);
  const auto reported = gather_checkpoint(outcome, directory);
  auto record = complete_iteration(metrics, options, reported);
  if (stops_.meets_rule(record.iteration, observation_.last_metrics())) outcome.stop = batch::ended_early;
  note_stop_point();
  std::function<const State&()> state;
  if (saving_.is_attached()) state = [this]() -> const State& { return saving_.state_at_rest(); };
  observation_.write(std::move(record), metrics, state);
  outcome.stop = std::max(outcome.stop, observation_.stop_by_callback());
  datasets_.warn_if_starving();
  fault_point("reported");

  saving_.advance(outcome.saves);
  obey(outcome, spec_.checkpoint.every.due_at_report(progress_.iteration()), reported ? &*reported : nullptr);
  reported ? copies_.stop() : copy_if_due();
  if (!progress_.take_stepped()) observation_.speeds().end_step(progress_.step());  // no call of step() has ended this step
}

void Session::begin_report() {
  attempt_.meter.note_api_call();
  warn_of_unread_keys("its first report");
  progress_.stay_alive(Phase::training);
  if (!observation_.has_begun()) observation_.begin({});
}

/// Votes at this report. Returns the outcome, combined with the outcome of the vote that the last step() started.
/// Collective.
StopVote::Outcome Session::vote_on_report(const ReportOptions& options, const DirectoryCheckpoint* directory) {
  const auto earlier = vote_.finish();
  const auto call = options.of_first_rank ? StopVote::Call::report_of_first : StopVote::Call::report;
  const auto now = vote_.now(ballot(directory), call);
  return {.stop = std::max(now.stop, earlier.stop), .wants = std::max(now.wants, earlier.wants), .saves = now.saves};
}

/// Returns the files and the State for a checkpoint if any rank passed a directory to report(); otherwise nullopt.
/// Collective.
std::optional<trainer::ReportedCheckpoint> Session::gather_checkpoint(const StopVote::Outcome& outcome,
                                                                      const DirectoryCheckpoint* directory) {
  std::optional<trainer::ReportedCheckpoint> reported;
  if (outcome.wants == StopVote::Wants::directory) reported = saving_.gather(directory);
  saving_.warn_if_unattached();
  return reported;
}

/// Completes the current iteration, and returns the iteration's metric record. Collective.
metrics::Record Session::complete_iteration(const Metrics& metrics, const ReportOptions& options,
                                            const std::optional<trainer::ReportedCheckpoint>& reported) {
  auto record = observation_.combine(metrics, options);
  observation_.complete_iteration(record);
  const bool is_scored_now = reported ? reported->files.validation.empty() : saving_.saves_state();
  if (is_scored_now) observation_.check_score();
  return record;
}

void Session::observe(std::string_view position, const Metrics& seen) {
  require_training("observe()");
  throw_if_stopped();
  observation_.observe(position, seen);
}

}  // namespace trainrt
