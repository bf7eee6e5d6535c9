#pragma once
#include <deque>
#include <exception>
#include <string>

#include <trainrt/communicator.hpp>

#include "comm/collective_task.hpp"

namespace trainrt::comm {

/// Base class of the communicators for host memory. It runs collectives as coroutines in a queue:
/// - start() runs a collective up to its first wait, so that the other ranks are notified of it.
/// - Collectives complete in the order of their start.
/// - Collectives advance only in calls of start(), test() and wait(); no thread is created for them.
/// - A wait first spins, then yields the core, then sleeps.
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
  /// Returns the coroutine that performs `collective`. The coroutine owns a copy of `collective`.
  virtual CollectiveTask make_task(Collective collective) = 0;

  /// Called repeatedly during a long wait, so that the backend can do other work. Returns the maximum number of seconds
  /// that the wait may sleep before the next call. `waited_s`: seconds since the wait began.
  virtual double on_long_wait(double waited_s) {
    static_cast<void>(waited_s);
    return 0.1;
  }
  /// Waits for a condition that belongs to no queued collective. The timeout of the communicator applies. `what`: name of
  /// the wait in messages.
  void wait_for(Awaited& awaited, std::string_view what);
  /// Waits until all started collectives are complete on this rank.
  void drain();
  /// Destroys the collectives in progress without completing them. Destructors of derived classes must call this function,
  /// because the coroutines refer to members of the derived object.
  void drop_pending() { queue_.clear(); }

  std::int64_t step() const { return step_; }
  std::size_t in_flight() const { return queue_.size(); }
  /// Returns whether a collective has failed. After a failure the state of the other ranks is unknown, and every later call
  /// throws.
  bool is_broken() const { return !broken_.empty(); }

 private:
  struct Entry {
    CollectiveTask task;
    Collective collective;
  };
  void advance();
  bool advance_front();
  void run(CollectiveTask& task);
  void wait_with_limit(Awaited& awaited, const std::string& what);
  void require_usable() const;
  [[noreturn]] void give_up(const std::string& what, const std::string& why);
  [[noreturn]] void give_up_overdue(const std::string& what, const std::string& missing);
  void note_broken(const std::string& what, const std::string& why);

  double timeout_seconds_;
  std::int64_t step_ = 0;
  std::deque<Entry> queue_;
  Ticket started_ = 0;
  Ticket completed_ = 0;
  std::string broken_;
  std::string mistake_kind_;  ///< kind of the MistakeError that broke the communicator; "" for other causes
};

/// Throws UsageError if the root, the counts or the element type of a collective is invalid.
void require_valid(const Collective& collective, int rank, int size);

/// Returns the kind and the name of a collective, for messages, such as "all_reduce of 'bucket 2'".
std::string described(const Collective& collective);

/// Returns a text with the arguments of a collective, for messages that compare the calls of ranks, such as "all_reduce of
/// 4 f32 (sum)".
std::string call_text(Collective::Kind kind, std::uint64_t count, DType dtype, Op op, int root);

}  // namespace trainrt::comm
