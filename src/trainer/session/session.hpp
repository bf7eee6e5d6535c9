#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/framework_meeting.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/state.hpp>

#include "batch/stop_cause.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/load.hpp"
#include "config/run_spec.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/run_datasets.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/reports/reporter.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/saving/checkpoint_cycle.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/stops/stop_vote.hpp"
#include "trainer/watching/replica_watch.hpp"
#include "trainer/watching/speed_watch.hpp"
#include "watch/liveness.hpp"

namespace trainrt {

/// Leaves the train function when the run stops. Not a std::exception, so that user code does not catch it by accident.
struct StopRun {};

/// One attempt of a run on one rank: what Context shows to the train function. Only the train thread uses it.
class Session {
 public:
  Session(const config::RunSpec& spec, const World& world, Communicator& communicator, trainer::AttemptInfo attempt);
  ~Session();
  Session(const Session&) = delete;

  const config::RunSpec& spec() const { return spec_; }
  const World& world() const { return world_; }
  Communicator& communicator() { return communicator_; }
  int attempt() const { return attempt_.number; }
  FrameworkMeeting framework(Context& ctx, const std::string& name);
  const std::string& run_id() const { return attempt_.run_id; }

  const OptionValue* loop_value(std::string_view key);
  Dataset dataset(const std::string& name) { return datasets_.open(name); }

  /// Before the train function begins: fits the preprocessors that keys of datasets name, or takes those of the run's
  /// checkpoints, and adds them to the metadata of all checkpoints, as "preprocessors"; applies the keys that make other
  /// samples. `checkpoint`: the directory of the one that predictions are made with. Collective.
  void prepare_datasets(const std::string& checkpoint = {});
  /// From then on each dataset has its first `samples` samples only, in their order. For a check, after
  /// prepare_datasets().
  void limit_datasets(std::uint64_t samples) { datasets_.limit(samples); }

  bool restore(State& state);
  bool restore_place();
  void load_from(const State& state, const std::string& checkpoint);
  void step();
  void report(const Metrics& metrics, const ReportOptions& options, const DirectoryCheckpoint* directory);
  void observe(std::string_view position, const Metrics& seen);
  void end_observation() { attempt_.meter.end_observation(); }
  void stop_point();
  /// Stops at once if somebody was asked to: before the train function starts, and after a load. Collective.
  void stop_if_asked();
  void request_stop(std::string_view reason) { stops_.request(reason); }
  void save_now();
  std::optional<CheckpointPlace> checkpoint() const;
  void wait_for_checkpoint();
  bool is_checkpoint_on_its_way() const { return saves_.is_on_its_way(); }
  void advance_checkpoint() { saves_.advance(); }
  void set_metadata(std::string_view json);
  const std::string& metadata_of_run() const { return attempt_.metadata; }
  void expect_iterations(std::int64_t total) {
    attempt_.meter.expect(static_cast<double>(total));
    reporter_->expect(total);
  }
  /// Other threads may look at it.
  const watch::Liveness& life() const { return life_; }
  std::int64_t step_count() const { return progress_.step; }
  std::int64_t iteration() const { return progress_.iteration; }
  /// A program's that has not restored, stepped or reported so far.
  bool is_silent() const { return attempt_.meter.is_silent(); }

  /// After the train function returned: waits for the checkpoint on its way, and warns if something is left unsaved. The
  /// function's data is gone, so nothing can be saved here.
  void finish();
  /// After a failure on all ranks at the same point: waits for the vote and the checkpoint that are on their way, and for
  /// what follows it. Throws AgreedError, or Error on some rank, if that fails.
  void settle();
  /// The sinks' files are complete; also after a stop.
  void close();
  /// After finish(), or after the train function was left by StopRun.
  trainer::Ending ending() const;

 private:
  /// Part of every checkpoint.
  struct Progress {
    std::int64_t iteration = 0;
    std::int64_t step = 0;
    std::int64_t ranks = 0;
    std::int64_t seed = 0;
  };
  /// What comes with a report for its checkpoint.
  struct Given {
    checkpoint::DirectoryFiles files;
    std::optional<State> state;  ///< instead of the run's; it holds that too
  };
  bool has_progress() const { return progress_.step > 0 || progress_.iteration > 0; }
  /// False if the train function was stopped before it had restored, stepped or reported.
  bool has_begun() const { return attached_ || has_progress(); }
  bool is_silent_program() const;
  /// Nothing is lost when the run goes on from its newest checkpoint, or from its beginning if it has made no step.
  /// What a silent program has saved is its own matter.
  bool loses_nothing() const { return !has_progress() || is_saved() || is_silent(); }
  trainer::RunPoint point() const { return {progress_.iteration, progress_.step}; }
  bool is_saved() const { return saves_.holds(point()); }
  bool saves_state() const { return attached_ && !saves_by_directory_; }
  trainer::CheckpointCycle::Content content(const Given* reported = nullptr) const;
  void save(const Given* reported);
  void attach(const State& user);
  bool load();
  void take_files_of(const trainer::CommittedCheckpoint& checkpoint);
  Given gather(const DirectoryCheckpoint* mine);
  std::optional<State> with_state_of(const DirectoryCheckpoint& given) const;
  std::string place() const;
  void take_record(const metrics::Record& record);
  std::int64_t records_before(std::string_view key, double position);
  void begin_observed(std::string_view position, double first);
  void begin_reports(std::int64_t iteration, double iteration_s = 0, const std::string& other_run = "");
  checkpoint::Covers part() const;
  bool restore_own();
  std::optional<checkpoint::LoadResult> load_own();
  std::optional<checkpoint::LoadResult> load_newest();
  bool repair_from_mirror();
  bool resume_from_other();
  void follow_up(const checkpoint::LoadResult& loaded) const;
  void take_restored(const std::string& directory, const checkpoint::Meta& meta);
  void make_alike(const checkpoint::LoadResult* loaded);
  void compare_replicas();
  batch::StopCause stop_by_callback();
  void add_skipped(metrics::Record& record);
  metrics::TimeSpent time_so_far() const;
  void obey(const trainer::StopVote::Outcome& outcome, bool checkpoint_due, const Given* reported = nullptr);
  void save_at_stop(batch::StopCause cause);
  trainer::StopVote::Ballot ballot(const DirectoryCheckpoint* directory = nullptr) const;
  void note_place();
  [[noreturn]] void stop(batch::StopCause cause);
  void throw_if_stopped() const;
  void require_training(std::string_view call) const;
  void warn_if_unattached();
  void warn_of_missing_score();
  void warn_of_unread_keys(std::string_view until);

  config::RunSpec spec_;
  World world_;
  comm::TimedCommunicator communicator_;
  trainer::AttemptInfo attempt_;
  std::vector<FrameworkMeeting> meetings_;  // kept to the end, where all ranks meet
  std::unique_ptr<trainer::Reporter> reporter_;
  trainer::StopVote vote_;

  std::set<std::string> read_keys_;
  trainer::RunDatasets datasets_;
  trainer::SpeedWatch speeds_;
  watch::Liveness life_;
  bool attached_ = false;
  bool attached_empty_ = false;      // a State that holds nothing
  bool saves_by_directory_ = false;  // has no State of its own, but gives directories with its reports
  State state_;
  Progress progress_;
  std::string metadata_ = attempt_.metadata;
  std::map<std::string, double> last_metrics_;  // of the last report, also if an earlier attempt made it
  double iteration_at_s_;                       // monotonic: when the iteration under way began, had no attempt ended in it
  double synced_at_s_ = 0;                      // monotonic: when what was observed was last made durable
  bool reports_begun_ = false;
  bool reported_ = false;  // in this attempt
  bool stepped_ = false;   // since the last report
  batch::StopCause stopped_by_ = batch::no_stop;
  bool warned_ = false;
  bool score_warned_ = false;
  bool unread_reported_ = false;
  trainer::StopReasons stops_;
  trainer::ReplicaWatch replicas_;
  trainer::CheckpointCycle saves_;  // last: its background work uses the rest
};

}  // namespace trainrt
