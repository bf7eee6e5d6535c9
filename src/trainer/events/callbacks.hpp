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

/// The callbacks of an attempt on one rank. Rank 0 has all callbacks, and notifies them of events. The other ranks have the
/// program's callbacks only, for fail(), and know from presence() whether rank 0 has callbacks: without callbacks, the
/// collective functions send nothing.
///
/// Used on the train thread, except fail(), which any thread may call.
class Callbacks {
 public:
  /// Creates an object without callbacks.
  Callbacks() = default;
  /// Opens the callbacks that the config names, on rank 0, and adds the program's callbacks. Throws the errors of
  /// CallbackKind::open.
  Callbacks(const config::RunSpec& spec, const std::vector<std::shared_ptr<Callback>>& of_program, int rank);

  /// The properties of rank 0's callbacks.
  struct Presence {
    bool any = false;        ///< rank 0 has a callback
    bool all_ranks = false;  ///< a callback needs the metrics of each rank
    bool may_stop = false;   ///< a callback may stop the run
  };
  const Presence& presence() const { return presence_; }
  void set_presence(const Presence& of_rank_0) { presence_ = of_rank_0; }

  // --- collective; throw AgreedError that names the callback ---
  void start(const RunInfo& info, Communicator& communicator) const;
  void commit(const ResultCheckpoint& checkpoint, Communicator& communicator) const;
  void finish(const std::string& run_dir, const Conclusion& conclusion, Communicator& communicator) const;

  // --- not collective ---
  /// Sets the metrics of each rank for the next report(), if presence().all_ranks.
  void set_rank_metrics(const std::vector<metrics::Record>& of_ranks);
  /// Notifies the callbacks of a report. Throws Error that names the callback. Called on rank 0.
  void report(const metrics::Record& record) const;
  /// Returns the stop that a callback has requested in the last report(); without a reason if the run continues, and on
  /// other ranks.
  StoppingCallback::Stop stop() const;
  /// Returns whether rank 0 has callbacks and is another rank, so that it must be notified if this rank fails alone.
  bool must_notify_rank_0() const { return presence_.any && !is_rank_0_; }
  /// Notifies the callbacks of the failure of the attempt; only the first call has an effect. An exception of a callback is
  /// logged.
  void fail(const RunFailure& failure) const noexcept;

 private:
  using Call = std::function<void(Callback&)>;
  void call(const char* function, const Call& call) const;
  void call_collectively(const char* function, const Call& call, Communicator& communicator) const;

  /// Serializes the calls of the train thread and of the thread that calls fail().
  struct CallLock {
    std::mutex mutex;
    bool has_failed = false;
  };

  int rank_ = 0;
  bool is_rank_0_ = false;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::shared_ptr<CallLock> lock_ = std::make_shared<CallLock>();
  Presence presence_;
  std::vector<ReportedMetrics> of_ranks_;
};

}  // namespace trainrt::trainer
