#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/framework_meeting.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/state.hpp>

#include "batch/stop_cause.hpp"
#include "comm/timed_communicator.hpp"
#include "config/run_spec.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/run_datasets.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/saving/memory_copies.hpp"
#include "trainer/session/observation.hpp"
#include "trainer/session/progress.hpp"
#include "trainer/session/restoring.hpp"
#include "trainer/session/saving.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/stops/stop_vote.hpp"
#include "watch/liveness.hpp"

namespace trainrt {

/// Exception that leaves the train function when the run stops. StopRun is not derived from std::exception, since user code
/// that catches std::exception must not catch StopRun.
struct StopRun {};

/// The parameters of a Session: the run, its ranks and the attempt.
struct SessionSetup {
  const config::RunSpec& spec;  ///< copied
  const World& world;           ///< copied
  Communicator& communicator;   ///< must outlive the session
  trainer::AttemptInfo attempt;
};

/// Implements Context for one attempt of a run on one rank; Context documents the functions of the same names. A Session
/// uses Progress, Restoring, Observation and Saving, and decides together with all ranks when the run stops.
///
/// Must be used on the train thread. Any thread may call life(), is_silent() and last_iteration().
class Session {
 public:
  explicit Session(SessionSetup setup);
  Session(const Session&) = delete;

  const config::RunSpec& spec() const { return spec_; }
  const World& world() const { return world_; }
  Communicator& communicator() { return communicator_; }
  int attempt() const { return attempt_.number; }
  const std::string& run_id() const { return attempt_.run_id; }
  FrameworkMeeting framework(Context& ctx, const std::string& name);
  /// Returns the value of a [loop] key, or nullptr. Records that the key was read; unread keys cause a warning later.
  const OptionValue* loop_value(std::string_view key);
  /// Returns text for an error about the missing [loop] key `key`: the most similar key of [loop] that was not read, with
  /// its origin. Returns "" if no key is similar.
  std::string similar_loop_key(std::string_view key) const;
  Dataset dataset(const std::string& name) { return datasets_.open(name); }

  // --- before the train function ---
  /// Prepares the datasets: applies the keys that change samples, and fits the preprocessors that [data.NAME] sections
  /// name. Preprocessors in the metadata of the checkpoint directory `checkpoint` (default: the run's newest checkpoint)
  /// are not fitted again. All later checkpoints store the fitted preprocessors in their metadata. Collective.
  void prepare_datasets(const std::string& checkpoint = {});
  /// Limits each dataset to its first `samples` samples. Called by checks, after prepare_datasets().
  void limit_datasets(std::uint64_t samples) { datasets_.limit(samples); }
  /// Throws StopRun on all ranks if any rank was asked to stop. Collective.
  void stop_if_asked();

  // --- calls of the train function ---
  bool restore(State& state);
  bool restore_without_state();
  void load_from(const State& state, const std::string& checkpoint);
  void step();
  void report(const Metrics& metrics, const ReportOptions& options, const DirectoryCheckpoint* directory);
  void observe(std::string_view position, const Metrics& seen);
  void end_observation() { attempt_.meter.end_observation(); }
  void stop_point();
  void request_stop(std::string_view reason) { stops_.request(reason); }
  void save_now();
  std::optional<CheckpointPlace> checkpoint() const { return saving_.newest(); }
  void wait_for_checkpoint() { saving_.wait(); }
  bool is_checkpoint_in_flight() const { return saving_.is_in_flight(); }
  bool is_saved() const { return saving_.loses_nothing(); }
  void advance_checkpoint() { saving_.advance(); }
  void set_metadata(std::string_view json) { saving_.set_metadata(json); }
  const std::string& run_metadata() const { return saving_.run_metadata(); }
  void expect_iterations(std::int64_t total) { observation_.expect_iterations(total); }

  // --- after the train function ---
  /// Waits for the checkpoint in flight, and logs a warning if work is not saved. Called after the train function has
  /// returned, when the memory of the attached State no longer exists. Collective.
  void finish();
  /// Waits for the vote on a stop and for the checkpoint that are in flight. Called after all ranks failed at the same
  /// point. Throws AgreedError on all ranks, or Error on some ranks. Collective.
  void settle();
  /// Completes the files of checkpoints and metrics. Also called after a stop. Collective.
  void close();
  /// Returns how the attempt ended. Called after finish(), or after StopRun was thrown.
  trainer::Ending ending() const;

  // --- status ---
  const watch::Liveness& life() const { return progress_.life(); }
  std::int64_t step_count() const { return progress_.step(); }
  std::int64_t iteration() const { return progress_.iteration(); }
  /// Returns whether the train function is a program that has not restored, stepped or reported so far.
  bool is_silent() const { return attempt_.meter.is_silent(); }
  std::int64_t last_iteration() const { return attempt_.meter.read().iteration; }  ///< number of completed iterations
  /// Returns whether the run has made a step or report, or had a checkpoint when this attempt began.
  bool has_trained() const { return progress_.has_begun() || !attempt_.earlier.listed.empty(); }

 private:
  void throw_if_stopped() const;
  void require_training(std::string_view call) const;
  void warn_of_unread_keys(std::string_view until);
  bool load();
  trainer::StopVote::Ballot ballot(const DirectoryCheckpoint* directory = nullptr) const;
  trainer::StopVote::Outcome vote_on_report(const ReportOptions& options, const DirectoryCheckpoint* directory);
  void begin_report();
  std::optional<trainer::ReportedCheckpoint> gather_checkpoint(const trainer::StopVote::Outcome& outcome,
                                                               const DirectoryCheckpoint* directory);
  metrics::Record complete_iteration(const Metrics& metrics, const ReportOptions& options,
                                     const std::optional<trainer::ReportedCheckpoint>& reported);
  void note_stop_point();
  void copy_if_due();
  void obey(const trainer::StopVote::Outcome& outcome, bool is_checkpoint_due,
            const trainer::ReportedCheckpoint* reported = nullptr);
  [[noreturn]] void stop(batch::StopCause cause);
  trainer::Ending::Kind ending_kind() const;

  config::RunSpec spec_;
  World world_;
  comm::TimedCommunicator communicator_;
  trainer::AttemptInfo attempt_;
  std::vector<FrameworkMeeting> meetings_;  // results of framework(), kept until all ranks have ended
  std::set<std::string> read_keys_;
  bool has_warned_of_keys_ = false;
  batch::StopCause stopped_by_ = batch::no_stop;

  trainer::StopVote vote_;
  trainer::StopReasons stops_;
  trainer::RunDatasets datasets_;
  trainer::Progress progress_;
  trainer::Observation observation_;
  trainer::Restoring restoring_;
  trainer::MemoryCopies copies_;
  trainer::Saving saving_;  // last member, so that it is destroyed first: its background work uses the other members
};

}  // namespace trainrt
