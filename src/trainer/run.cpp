#include "trainer/run.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "batch/lease.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "core/stack_trace.hpp"
#include "data/open_dataset.hpp"
#include "io/fenced_directory.hpp"
#include "io/file.hpp"
#include "io/patience.hpp"
#include "trainer/agreement.hpp"
#include "trainer/attempt.hpp"
#include "trainer/crash_report.hpp"
#include "trainer/exit_guard.hpp"
#include "trainer/fence_watch.hpp"
#include "trainer/hang_watch.hpp"
#include "trainer/progress.hpp"
#include "trainer/run_directory.hpp"
#include "trainer/run_record.hpp"
#include "trainer/session.hpp"
#include "trainer/start_watch.hpp"
#include "trainer/thrown.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

constexpr const char* finished_text = "finished";

/// Refuses directories that are no run, and runs of another train function. "finished" where there is nothing to do.
std::string look_at_existing(const RunSpec& spec, const std::string& function) {
  const auto record = read_run_record(spec.run_dir);
  if (!record) {
    if (fs::exists(spec.run_dir) && !fs::is_directory(spec.run_dir + "/attempts") && !fs::is_empty(spec.run_dir))
      throw UsageError(spec.run_dir + " exists and is no run of trainrt: choose another run.name or run.storage_path");
    return {};
  }
  if (record->function != function)
    throw UsageError(fmt::format("the run in {} is of the train function '{}', not '{}': give this run another run.name",
                                 spec.run_dir, record->function, function));
  return is_finished_as_is(*record, spec) ? finished_text : "";
}

/// A run that finished was killed before it could remove its private directory.
void tidy_finished(const std::string& run_dir) try {
  const auto attempts = read_attempts(run_dir);
  if (!attempts.empty() && !attempts.back().end.empty()) fence_off_older(run_dir, attempts.back().number + 1);
} catch (const Error& error) {
  log::warning(std::string("what the last attempt left stays: ") + error.what());
}

std::string shown(const std::string& value) { return value.empty() ? "not set" : "'" + value + "'"; }

/// What rank 0 keeps of an attempt while it runs; the other ranks have none.
class Records {
 public:
  Records(const RunSpec& spec, const std::string& function, int ranks, std::vector<std::string> nodes, Meter& meter)
      : run_dir_(spec.run_dir), attempt_(spec.run_dir, ranks, std::move(nodes), meter) {
    auto existing = read_run_record(run_dir_);
    record_ = existing ? *existing : new_run_record(spec, function);
    for (const auto& change : take_changes(record_, spec, attempt_.number()))
      log::info(fmt::format("{} was {}, is {} from attempt {} on", change.key, shown(change.from), shown(change.to),
                            change.attempt));
    record_.spec = spec.texts;
    workers_ = take_workers(record_, spec, ranks);
    if (workers_ > 0 && workers_ != ranks)
      log::info(
          fmt::format("elastic: {} rank{} share the global batches of {} workers", ranks, ranks == 1 ? "" : "s", workers_));
    set_state("running");
    io::patiently([&] { files().replace("params.json", loop_as_json(record_)); });
    io::patiently([&] { files().remove("error.txt"); });  // of an earlier attempt; its record keeps the text
    sweep(run_dir_);
  }

  int number() const { return attempt_.number(); }
  int workers() const { return workers_; }  ///< that global batches are made for; 0: as many as there are ranks
  const io::FencedDirectory& files() const { return attempt_.files(); }
  void end(const std::string& state, const std::string& why, ExitCode code, std::int64_t step) {
    attempt_.end(why, static_cast<int>(code), step);
    set_state(state);
  }
  /// The run failed on all ranks. Storage that is full or away cannot keep that from being said.
  void fail(const Error& error, std::int64_t step) try {
    files().create("error.txt", utc_now() + " " + error.what() + "\n");
    end("failed", std::string("failed: ") + error.what(), error.code(), step);
  } catch (const Error& second) {
    log::error(std::string("and that could not be written down: ") + second.what());
  }

 private:
  void set_state(const std::string& state) {
    record_.state = state;
    write_run_record(files(), record_);
  }

  std::string run_dir_;
  Attempt attempt_;
  RunRecord record_;
  int workers_ = 0;
};

std::vector<std::string> node_names(const World& world, Communicator& communicator) {
  const auto hosts = communicator.all_gather(Environment::of_process().text("SLURMD_NODENAME").value_or(host_name()));
  std::vector<std::string> names;
  std::set<int> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (seen.insert(world.node_of_rank[rank]).second) names.push_back(hosts[rank]);
  return names;
}

/// When this attempt began, by monotonic_seconds(): with the process, where it is the first in it.
double attempt_start_s() {
  static std::atomic<bool> is_first = true;
  return monotonic_seconds() - (is_first.exchange(false) ? seconds_since_process_start() : 0);
}

/// What checkpoint.every = auto knows of the attempts before this one.
FailureHistory failure_history(const RunSpec& spec) {
  if (spec.checkpoint_every.unit != CheckpointInterval::Unit::automatic) return {};
  return history_of(read_attempts(spec.run_dir, history_attempts));
}

/// For the start-up benchmark.
void say_when_started(int rank) {
  if (rank == 0 && Environment::of_process().has("TRAINRT_TIMING"))
    fmt::print(stderr, "timing: train_function_started_s={:.3f}\n", seconds_since_process_start());
}

/// What an attempt is called and what it may have to leave no trace of.
struct Place {
  const RunSpec& spec;
  int attempt;
  io::FencedDirectory files;  ///< the run directory
  std::string there_before;   ///< the deepest folder of the storage path that this attempt found
};

/// A config that the train function cannot use is found before anything happened: such a run leaves nothing behind. Attempt
/// 1 alone does not tell: where somebody removed the attempts' records, the checkpoints must stay.
bool leaves_nothing(const Place& place, const Session& session, const Error& error) {
  return error.code() == ExitCode::usage && place.attempt == 1 && session.step_count() == 0 && session.iteration() == 0 &&
         checkpoint::highest_index(place.spec.run_dir) < 0;
}

/// How an attempt failed, for error.txt and the attempt's record.
struct Failure {
  std::string text;     ///< one line
  std::string details;  ///< lines that only error.txt gets
  ExitCode code = ExitCode::failed;
  std::int64_t step = 0;
};

void write_down(const Place& place, const Failure& failure) {
  const auto& run_dir = place.spec.run_dir;
  // Other ranks may fail because this one did: the first to write is the one to know.
  if (!place.files.create("error.txt", utc_now() + " " + failure.text + "\n" + failure.details)) return;
  mark_failed(run_dir, place.attempt, "failed: " + failure.text, static_cast<int>(failure.code), failure.step);
  if (auto record = read_run_record(run_dir)) {
    record->state = "failed";
    write_run_record(place.files, *record);
  }
  log::info(fmt::format(
      "the error is kept in {}/error.txt; mend what it says and start the same command again: the run continues from "
      "its last checkpoint",
      run_dir));
}

/// Of an attempt that a newer one has fenced off. Whatever went wrong in it went wrong for that.
std::string fenced_text(int attempt) {
  return fmt::format("a newer attempt has taken over this run; attempt {} ends, and changes nothing more (exit {})",
                     attempt, static_cast<int>(ExitCode::failed));
}

/// With 70, not 75: a batch script must not requeue a job of which a requeue is running already. Nothing is written down:
/// the run directory is the newer attempt's.
void end_as_fenced(int attempt, launch::Launch& launch) {
  log::error(fenced_text(attempt));
  ExitGuard::stand_down();
  launch.abort(static_cast<int>(ExitCode::failed));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Of the exception that is being handled: its type, where it was thrown, and the rest of a message of several lines.
std::string details_of_exception(const std::string& message) {
  auto text = fmt::format("thrown as {}, at\n{}", thrown_type(), describe(thrown_at()));
  if (message.find('\n') != std::string::npos) text += "the message in full\n" + message + "\n";
  return text;
}

/// One rank's train function failed, and the others wait for it somewhere: say it, write it down, end the step. Called
/// where the exception is handled.
[[noreturn]] void fail_everywhere(const Place& place, const Session& session, launch::Launch& launch, const Error& error,
                                  const std::string& whole_message) {
  if (place.files.is_fenced()) {
    end_as_fenced(place.attempt, launch);
    throw Error(fenced_text(place.attempt));  // where the ranks are threads, abort() returns
  }
  const auto details = details_of_exception(whole_message);
  // Where all ranks fail alike, rank 0 says it and the others are ended before they speak.
  if (launch.world().rank != 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto text = fmt::format("rank {} on {} failed at step {} (attempt {}): {}", launch.world().rank, host_name(),
                                session.step_count(), place.attempt, first_line(error.what()));
  log::error(error.what());
  try {
    if (leaves_nothing(place, session, error))
      discard_run_directory(place.files, place.attempt, place.there_before);
    else
      write_down(place, {text, details, error.code(), session.step_count()});
  } catch (const std::exception& second) {
    log::error(std::string("and that could not be written down: ") + second.what());
  }
  launch.abort(static_cast<int>(error.code()));
  throw error;  // where the ranks are threads, abort() returns
}

void call_train_function(const Place& place, const TrainFunction& function, Session& session, launch::Launch& launch) {
  try {
    session.stop_if_asked();  // asked during the start-up: nothing has begun
    Context context(session);
    say_when_started(launch.world().rank);
    const ExitGuard guard(launch);
    function.train(context);
    session.finish();
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    fail_everywhere(place, session, launch, error, error.what());
  } catch (const std::exception& error) {
    fail_everywhere(place, session, launch, Error(first_line(error.what())), error.what());
  } catch (const StopRun&) {
    // stopped_by() tells
  } catch (...) {
    fail_everywhere(place, session, launch,
                    Error(fmt::format("the train function threw something that is no std::exception: {}", thrown_type())),
                    "");
  }
}

bool has_finished(const Session& session) {
  return session.stopped_by() == batch::no_stop || session.stopped_by() == batch::ended_early;
}

std::string why_ended(const Session& session) {
  if (session.stopped_by() == batch::no_stop) return "finished";
  return (has_finished(session) ? "finished early: " : "stopped by ") + session.stop_reason();
}

RunOutcome outcome_of(const RunSpec& spec, const Session& session) {
  const bool early = session.stopped_by() == batch::ended_early;
  if (has_finished(session) && (!early || session.loses_nothing()))
    return {ExitCode::finished, fmt::format("finished{}: {} iterations, {} steps. Results: {} (trainrt result {})",
                                            early ? " early (" + session.stop_reason() + ")" : "", session.iteration(),
                                            session.step_count(), spec.run_dir, spec.run_dir)};
  const auto again = fmt::format("Run the same command again to continue (exit {})", static_cast<int>(ExitCode::stopped));
  if (!session.has_begun())
    return {ExitCode::stopped,
            fmt::format("{} before the training began; nothing has changed. {}", why_ended(session), again)};
  const auto stopped = fmt::format("{} at step {}", why_ended(session), session.step_count());
  if (!session.loses_nothing())
    return {
        ExitCode::failed,
        stopped + fmt::format(", but this could not be saved: starting again repeats what came after the last checkpoint "
                              "(trainrt result {}; exit {})",
                              spec.run_dir, static_cast<int>(ExitCode::failed))};
  return {ExitCode::stopped, stopped + "; everything up to there is saved. " + again};
}

/// Slurm's PMIx lets the others wait when a rank dies of a signal that makes a core; mpiexec ends them.
std::function<void(int)> end_of_step_after_crash(launch::Launch& launch) {
  if (launch.world().launcher != "pmix") return {};
  return [&launch](int code) {
    ExitGuard::stand_down();
    launch.abort(code);
  };
}

HangWatch watch_for_hangs(const Place& place, const Session& session, launch::Launch& launch,
                          const std::vector<std::string>& nodes) {
  const auto& world = launch.world();
  HangWatch::Place where{.run_dir = place.spec.run_dir, .attempt = place.attempt, .rank = world.rank, .host_of_rank = {}};
  std::map<int, std::string> host_of_node;  // nodes are named in the order of their lowest ranks
  for (const int node : world.node_of_rank) {
    if (!host_of_node.contains(node)) host_of_node[node] = nodes.at(host_of_node.size());
    where.host_of_rank.push_back(host_of_node[node]);
  }
  return {place.spec,
          std::move(where),
          session.life(),
          {.write_down =
               [&place](const std::string& why, std::int64_t step) {
                 write_down(place, {why, "", ExitCode::failed, step});
               },
           .end_step =
               [&launch] {
                 ExitGuard::stand_down();
                 launch.abort(static_cast<int>(ExitCode::failed));
               }}};
}

void leave_nothing(const std::string& private_dir) try { io::remove_tree(private_dir); } catch (const Error& error) {
  log::warning(std::string("what this attempt leaves behind is swept by the next: ") + error.what());
}

void warn_of_unread_keys(const Session& session) {
  for (const auto& key : session.unread_loop_keys())
    log::warning(fmt::format("[loop] {} was never read by the train function (a typing error?)", key));
}

}  // namespace

void check_datasets(const RunSpec& spec) {
  for (const auto& [name, options] : spec.data) data::check_dataset(name, options);
}

RunOutcome run(const RunSpec& spec, const TrainFunction& function, launch::Launch& launch, Communicator& communicator) {
  std::optional<StartWatch> start_watch(std::in_place, launch, spec);
  io::set_patience(spec.storage_timeout_s);
  Meter meter(attempt_start_s());
  const bool keeps_records = communicator.rank() == 0;
  const std::string name(function.name);
  const auto there_before = require_shared_storage(spec.storage_path, spec.storage_timeout_s, communicator);

  std::string existing;
  agreed(communicator, [&] { existing = keeps_records ? look_at_existing(spec, name) : ""; });
  if (communicator.broadcast_text(existing, 0) == finished_text) {
    if (keeps_records) tidy_finished(spec.run_dir);
    return {ExitCode::finished,
            fmt::format("the run '{}' has finished already; nothing to do. Results: {}. More epochs in [loop] continue it; "
                        "another run.name starts a new one",
                        spec.name, spec.run_dir)};
  }

  make_run_directory(spec.run_dir, spec.storage_timeout_s, communicator);
  const auto nodes = node_names(launch.world(), communicator);
  std::unique_ptr<Records> records;
  agreed(communicator, [&] {
    if (!keeps_records) return;
    require_progress(spec);
    records = std::make_unique<Records>(spec, name, communicator.size(), nodes, meter);
  });
  std::array<std::int64_t, 2> numbers{};
  if (records) numbers = {records->number(), records->workers()};
  communicator.broadcast(Buffer{numbers.data(), numbers.size(), DType::i64}, 0, "number of the attempt");
  const auto attempt = static_cast<int>(numbers[0]);

  // One rank watches the job's time, and the vote tells the others.
  const auto environment = keeps_records ? Environment::of_process() : Environment();
  const batch::Lease lease(batch::ask_slurm(environment), batch::ask_slurm_notice(environment));
  const io::FencedDirectory files(spec.run_dir, private_directory(spec.run_dir, attempt));
  FenceWatch fence_watch(files, [attempt, &launch] { end_as_fenced(attempt, launch); });
  Session session(spec, launch.world(), communicator,
                  {attempt, files.private_dir(), meter, records ? failure_history(spec) : FailureHistory{},
                   keeps_records ? &lease : nullptr, static_cast<int>(numbers[1])});
  const Place place{spec, attempt, files, there_before};
  const CrashPlace crash_place(spec.run_dir, attempt, communicator.rank(), session.life(), end_of_step_after_crash(launch));
  const auto hang_watch = watch_for_hangs(place, session, launch, nodes);
  start_watch.reset();
  try {
    call_train_function(place, function, session, launch);
    fence_watch.stop();  // rank 0 removes the private directory once all ranks have closed
    session.close();
  } catch (const AgreedError& error) {
    if (files.is_fenced()) throw AgreedError(fenced_text(attempt));
    if (records) records->fail(error, session.step_count());
    throw;
  }
  const auto outcome = outcome_of(spec, session);
  agreed(communicator, [&] {
    if (!records) return;
    if (session.has_begun()) warn_of_unread_keys(session);
    const auto why = why_ended(session);
    const bool lost = outcome.code == ExitCode::failed;
    records->end(has_finished(session) && !lost ? "finished" : "stopped", lost ? why + ", not saved" : why, outcome.code,
                 session.step_count());
    leave_nothing(files.private_dir());
  });
  return outcome;
}

}  // namespace trainrt::trainer
