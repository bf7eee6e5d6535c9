#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/state.hpp>

#include "batch/lease.hpp"
#include "checkpoint/saver.hpp"
#include "data/dataset_impl.hpp"
#include "launch/world.hpp"
#include "trainer/auto_interval.hpp"
#include "trainer/life_signs.hpp"
#include "trainer/meter.hpp"
#include "trainer/reporter.hpp"
#include "trainer/run_spec.hpp"
#include "trainer/stop_margin.hpp"
#include "trainer/stop_rules.hpp"
#include "trainer/stop_vote.hpp"

namespace trainrt {

/// Leaves the train function when the run stops. Not a std::exception, so that user code does not catch it by accident.
struct StopRun {};

/// What the numbers of an attempt are tied to.
struct AttemptInfo {
  int number = 0;
  std::string private_dir;
  trainer::Meter& meter;                ///< lives longer than the session
  trainer::FailureHistory history;      ///< of the attempts before, for checkpoint.every = auto; rank 0's counts
  const batch::Lease* lease = nullptr;  ///< of the job, on the rank that watches it
  int workers = 0;  ///< of an elastic run: that a global batch is made for; 0: as many as there are ranks
};

/// One attempt of a run on one rank: what Context shows to the train function. Only the train thread uses it.
class Session {
 public:
  Session(const trainer::RunSpec& spec, const World& world, Communicator& communicator, AttemptInfo attempt);
  ~Session();
  Session(const Session&) = delete;

  const trainer::RunSpec& spec() const { return spec_; }
  const World& world() const { return world_; }
  Communicator& communicator() { return communicator_; }

  const OptionValue* loop_value(std::string_view key);
  std::vector<std::string> unread_loop_keys() const;
  Dataset dataset(const std::string& name);

  bool restore(State& state);
  void step();
  void report(const Metrics& metrics);
  void stop_point();
  /// Stops at once where somebody was asked to: before the train function starts, and after a load. Collective.
  void stop_if_asked();
  void request_stop(std::string_view reason);
  void save_now();
  void set_metadata(std::string_view json);
  void expect_iterations(std::int64_t total) { reporter_->expect(total); }
  /// Other threads may look at it.
  const trainer::LifeSigns& life() const { return life_; }
  std::int64_t step_count() const { return progress_.step; }
  std::int64_t iteration() const { return progress_.iteration; }

  /// After the train function returned: waits for the checkpoint on its way, and warns where something is left unsaved. The
  /// function's data is gone, so nothing can be saved here.
  void finish();
  /// The sinks' files are complete; also after a stop.
  void close();
  batch::StopCause stopped_by() const { return stopped_by_; }
  /// What stopped it, in words: "SIGUSR1", or of a run that ended early the rule that was met.
  std::string stop_reason() const;
  /// False where the train function was stopped before it had restored, stepped or reported.
  bool has_begun() const { return attached_ || has_progress(); }
  /// Nothing is lost when the run goes on from its newest checkpoint, or from its beginning where it has made no step.
  bool loses_nothing() const { return !has_progress() || is_saved(); }

 private:
  /// Part of every checkpoint.
  struct Progress {
    std::int64_t iteration = 0;
    std::int64_t step = 0;
    std::int64_t ranks = 0;
    std::int64_t seed = 0;
  };
  /// A data cursor as checkpoint values.
  struct StoredCursor {
    bool in_progress = false;
    std::int64_t epoch = -1;
    std::int64_t position = 0;
  };

  bool has_progress() const { return progress_.step > 0 || progress_.iteration > 0; }
  bool is_saved() const { return progress_.step == saved_.step && progress_.iteration == saved_.iteration; }
  void attach(const State& user);
  void begin_reports(std::int64_t iteration);
  bool restore_own();
  bool resume_from_other();
  void put_back_cursors();
  void follow_up(const checkpoint::LoadResult& loaded) const;
  void take_restored(const std::string& directory, int ranks);
  metrics::Record aggregate(const Metrics& metrics);
  metrics::TimeSoFar time_so_far() const;
  void obey(const trainer::StopVote::Outcome& outcome, bool checkpoint_due);
  void start_save();
  bool save_and_wait();
  void advance_save(const checkpoint::Saver::Standing& of_all);
  void finish_save();
  void conclude(const std::optional<checkpoint::SaveResult>& result);
  std::optional<checkpoint::SaveResult> measured(std::optional<checkpoint::SaveResult> result);
  trainer::StopVote::Voice voice() const;
  bool time_is_up() const;
  void note_place();
  void agree_on_end();
  [[noreturn]] void stop(batch::StopCause cause);
  void throw_if_stopped() const;
  void warn_if_unattached();
  void warn_of_missing_score();
  void warn_of_missing_rules();
  void warn_of_short_notice();
  std::string newest_checkpoint() const;
  bool checkpoint_time_is_up() const;

  trainer::RunSpec spec_;
  World world_;
  Communicator& communicator_;
  AttemptInfo attempt_;
  std::unique_ptr<trainer::Reporter> reporter_;
  trainer::StopVote vote_;

  std::map<std::string, std::shared_ptr<DatasetImpl>> datasets_;
  std::map<std::string, StoredCursor> cursors_;
  std::set<std::string> read_keys_;

  trainer::LifeSigns life_;
  bool attached_ = false;
  State state_;
  Progress progress_;
  Progress saved_{.iteration = -1, .step = -1};
  Progress flying_;  // of the checkpoint that is on its way
  std::int64_t failed_in_a_row_ = 0;
  std::string metadata_ = "{}";
  std::int64_t next_checkpoint_ = 0;
  std::map<std::string, double> last_metrics_;
  bool reports_begun_ = false;
  double last_save_s_;
  trainer::StopRules stop_rules_;
  trainer::StopMargin stop_margin_;
  double last_point_s_ = 0;  // when the run could last have stopped; 0: not yet
  batch::StopCause stopped_by_ = batch::no_stop;
  std::string end_reason_;  // why the run is done before its train function says so
  double stalled_before_save_s_ = 0;
  trainer::AutoInterval auto_interval_;
  bool reported_ = false;  // in this attempt
  bool warned_ = false;
  bool rule_warned_ = false;
  bool notice_warned_ = false;
  bool score_warned_ = false;
  checkpoint::Saver saver_;  // last: its background work uses the rest
};

}  // namespace trainrt
