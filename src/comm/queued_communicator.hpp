#pragma once
#include <deque>
#include <exception>
#include <string>

#include <trainrt/communicator.hpp>

#include "comm/task.hpp"

namespace trainrt::comm {

/// What the backends on the CPU have in common: collectives are coroutines in a queue. Each runs up to its first wait when
/// it is started, so that the other ranks learn of it, and completes in its turn, as this rank comes by (start, test,
/// wait); no thread of its own competes for the cores. Who waits spins first, then yields the core, then sleeps.
class QueuedCommunicator : public Communicator {
 public:
  QueuedCommunicator(int rank, int size, double timeout_seconds)
      : Communicator(rank, size), timeout_seconds_(timeout_seconds) {}

  Ticket start(const Collective& collective) final;
  bool test(Ticket ticket) final;
  void wait(Ticket ticket) final;
  void at_step(std::int64_t step) override { step_ = step; }
  double timeout_seconds() const { return timeout_seconds_; }

 protected:
  /// The collective as a coroutine; what is wrong with the arguments is thrown at once. The parameter is copied.
  virtual Task task_of(Collective collective) = 0;

  /// Called while a wait is long: what else has to be done meanwhile. Returns for how many seconds it may sleep then.
  virtual double idle() { return 0.1; }
  /// Waits outside the queue, with the same limit.
  void wait_for(Awaited& awaited, std::string_view what);
  /// Completes all that was started.
  void drain();
  /// Drops what is under way: for the end of a backend, whose collectives refer to it.
  void forget() { queue_.clear(); }

  std::int64_t step() const { return step_; }
  std::size_t in_flight() const { return queue_.size(); }
  /// After a wait that failed nothing is known of the other ranks: every later call fails.
  bool is_broken() const { return !broken_.empty(); }

 private:
  struct Entry {
    Task task;
    Collective collective;
  };
  void advance();
  bool advance_front();
  void run(Task& task);
  void wait_with_limit(Awaited& awaited, const std::string& what);
  void require_whole() const;
  [[noreturn]] void give_up(const std::string& what, const std::string& why);
  [[noreturn]] void give_up_overdue(const std::string& what, const std::string& missing);
  void note_broken(const std::string& what, const std::string& why);

  double timeout_seconds_;
  std::int64_t step_ = 0;
  std::deque<Entry> queue_;
  Ticket started_ = 0;
  Ticket completed_ = 0;
  std::string broken_;
};

/// Throws UsageError for a collective that no backend could carry out: a root, counts or type that is not valid.
void require_valid(const Collective& collective, int rank, int size);

/// "all_reduce of 'bucket 2'"
std::string described(const Collective& collective);

}  // namespace trainrt::comm
