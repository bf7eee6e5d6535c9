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

/// Notifies the callbacks of an attempt of events, on one rank. Rank 0 has all callbacks. The other ranks have only the
/// program's callbacks, which fail() notifies. If rank 0 has no callbacks, the collective functions do not communicate.
///
/// Must be used on the train thread, except fail(), which any thread may call.
class Callbacks {
 public:
  /// Creates an object without callbacks.
  Callbacks() = default;
  /// Opens the callbacks that the config names, on rank 0 only, and adds the program's callbacks `of_program` on all ranks.
  /// Throws the errors of CallbackKind::open.
  Callbacks(const config::RunSpec& spec, const std::vector<std::shared_ptr<Callback>>& of_program, int rank);

  /// Properties of rank 0's callbacks that all ranks know.
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
  /// Sets the metrics of each rank for the next report(). Called if presence().all_ranks is true.
  void set_rank_metrics(const std::vector<metrics::Record>& of_ranks);
  /// Notifies the callbacks of a report. If a callback fails, throws Error that names the callback. Called on rank 0.
  void report(const metrics::Record& record) const;
  /// Notifies the callbacks that may stop the run that it continues from a checkpoint with `iteration` reports. If a
  /// callback fails, throws Error that names the callback. Called on rank 0.
  void restored(std::int64_t iteration) const;
  /// Returns the stop that a callback requested after the last report() or restored(). The reason is "" if the run
  /// continues, and always on ranks other than 0.
  StoppingCallback::Stop stop() const;
  /// Returns whether rank 0 must be notified if this rank fails alone: rank 0 has callbacks, and this rank is not rank 0.
  bool must_notify_rank_0() const { return presence_.any && !is_rank_0_; }
  /// Notifies the callbacks of this rank that the attempt failed. Only the first call has an effect. Exceptions of
  /// callbacks are logged.
  void fail(const RunFailure& failure) const noexcept;

 private:
  using Call = std::function<void(Callback&)>;
  void call(const char* function, const Call& call) const;
  void call_collectively(const char* function, const Call& call, Communicator& communicator) const;

  /// Serializes calls of callbacks by the train thread and by the thread that calls fail().
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
