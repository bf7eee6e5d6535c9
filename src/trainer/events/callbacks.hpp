#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <trainrt/callback.hpp>
#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "metrics/record.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/events/stopping_callback.hpp"

namespace trainrt::trainer {

/// The callbacks of an attempt. Rank 0 has them; the other ranks know whether there are any, so that nothing is sent for
/// them if there are none, and have their own of the program's, for a failure.
class Callbacks {
 public:
  /// None.
  Callbacks() = default;
  /// Those that the config names, and the program's, on rank 0; the latter elsewhere. Throws what opening one throws.
  Callbacks(const config::RunSpec& spec, const std::vector<std::shared_ptr<Callback>>& of_program, int rank);

  /// What rank 0 has: the other ranks take it over.
  struct Presence {
    bool any = false;
    bool all_ranks = false;  ///< one wants what each rank has reported
    bool may_stop = false;   ///< one may end the run
  };
  const Presence& presence() const { return presence_; }
  void take(const Presence& of_first) { presence_ = of_first; }

  // Collective; an AgreedError names the callback that threw. Nothing is sent if there are none.
  void start(const RunInfo& info, Communicator& communicator) const;
  void commit(const ResultCheckpoint& checkpoint, Communicator& communicator) const;
  void finish(const std::string& run_dir, const Conclusion& conclusion, Communicator& communicator) const;

  // Not collective.
  /// What each rank gives the next report, if one is to see it.
  void take_ranks(const std::vector<metrics::Record>& of_ranks);
  /// What a callback says after the last report(); without a reason if none ends the run, and on other ranks.
  StoppingCallback::Stop stop() const;
  /// Throws Error that names the callback.
  void report(const metrics::Record& record) const;
  /// Rank 0 has callbacks, and is not this one: it is to hear of a failure of this one alone.
  bool first_must_hear() const { return presence_.any && !is_first_; }
  /// The attempt has failed: whoever throws here is warned of. Any thread; the first call of an attempt counts.
  void fail(const RunFailure& failure) const noexcept;

 private:
  using Call = std::function<void(Callback&)>;
  void call(const char* what, const Call& call) const;
  void call_agreed(const char* what, const Call& call, Communicator& communicator) const;

  /// Of a rank that failed alone rank 0 learns by a thread of its own.
  struct Turn {
    std::mutex mutex;
    bool has_failed = false;
  };

  int rank_ = 0;
  bool is_first_ = false;
  std::vector<std::shared_ptr<Callback>> callbacks_;  ///< on ranks but 0 for fail() only
  std::shared_ptr<Turn> turn_ = std::make_shared<Turn>();
  Presence presence_;
  std::vector<ReportedMetrics> of_ranks_;
};

}  // namespace trainrt::trainer
