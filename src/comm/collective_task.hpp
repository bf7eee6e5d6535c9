#pragma once
#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace trainrt::comm {

/// A condition that a collective waits for, such as the arrival of another rank's data.
class Awaited {
 public:
  virtual ~Awaited() = default;
  /// Returns whether the condition is true. Advances the communication if that is necessary. Must be cheap.
  virtual bool ready() = 0;
  /// Blocks for at most `max_seconds`, or until the condition may have become true. Called in long waits, so that other
  /// processes can use the core.
  virtual void sleep(double max_seconds) = 0;
  virtual std::string failure() { return {}; }  ///< the reason why the condition will never be true; "" if unknown
  virtual std::string missing() = 0;            ///< the ranks that are waited for: "rank 3 (last seen at step 12)"
  /// Returns ", for " followed by the missing ranks if they are known without communication, otherwise an empty text.
  virtual std::string missing_if_known() { return {}; }
};

/// A collective in progress, implemented as a coroutine. `co_await awaited` suspends the coroutine until its
/// QueuedCommunicator finds that the condition `awaited` is true and that all collectives started earlier are complete.
class CollectiveTask {
 public:
  struct promise_type {
    Awaited* awaited = nullptr;  ///< the condition that the suspended coroutine waits for; nullptr before its first wait
    bool first_in_queue = false;
    std::exception_ptr error;

    CollectiveTask get_return_object() { return CollectiveTask(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }

    struct Awaiter {
      promise_type& promise;
      Awaited& awaited;
      bool await_ready() const { return promise.first_in_queue && awaited.ready(); }
      void await_suspend(std::coroutine_handle<>) const { promise.awaited = &awaited; }
      void await_resume() const { promise.awaited = nullptr; }
    };
    Awaiter await_transform(Awaited& event) { return {*this, event}; }
  };

  CollectiveTask(CollectiveTask&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  CollectiveTask& operator=(CollectiveTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CollectiveTask() {
    if (handle_) handle_.destroy();
  }

  Awaited* awaited() const { return handle_.promise().awaited; }
  void set_first_in_queue() { handle_.promise().first_in_queue = true; }
  bool done() const { return handle_.done(); }
  /// Runs the coroutine until its next wait or its end. Rethrows the exception that the coroutine threw.
  void resume() {
    handle_.resume();
    if (handle_.done() && handle_.promise().error) std::rethrow_exception(handle_.promise().error);
  }
  /// Runs this task inside another task, which must be the first in the queue of collectives: `while (rest.advance())
  /// co_await *rest.awaited();`. Returns false once this task is done.
  bool advance() {
    set_first_in_queue();
    resume();
    return !done();
  }

 private:
  explicit CollectiveTask(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace trainrt::comm
