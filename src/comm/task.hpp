#pragma once
#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace trainrt::comm {

/// Something that a collective has to wait for before it can go on.
class Awaited {
 public:
  virtual ~Awaited() = default;
  virtual bool ready() = 0;  ///< cheap; makes progress if that is needed
  /// Gives the core away for at most that long, or until it may be ready: for waits that get long.
  virtual void sleep(double most_seconds) = 0;
  virtual std::string lost() { return {}; }  ///< why it will never be ready, if that is known
  virtual std::string missing() = 0;         ///< who does not come, for the message: "rank 3 (last seen at step 12)"
  /// ", for rank 3 (last seen at step 12)": the same if it costs nothing to know; else "".
  virtual std::string awaited_now() { return {}; }
};

/// A collective under way, written as a coroutine: straight on from one wait to the next. `co_await awaited` suspends until
/// its QueuedCommunicator finds it ready, and finds every collective that was started before complete.
class Task {
 public:
  struct promise_type {
    Awaited* awaited = nullptr;  ///< at which it is suspended; nullptr: for its turn only
    bool first_in_queue = false;
    std::exception_ptr error;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }

    struct Wait {
      promise_type& promise;
      Awaited& awaited;
      bool await_ready() const { return promise.first_in_queue && awaited.ready(); }
      void await_suspend(std::coroutine_handle<>) const { promise.awaited = &awaited; }
      void await_resume() const { promise.awaited = nullptr; }
    };
    Wait await_transform(Awaited& event) { return {*this, event}; }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  Awaited* awaited() const { return handle_.promise().awaited; }
  void set_first_in_queue() { handle_.promise().first_in_queue = true; }
  bool done() const { return handle_.done(); }
  /// On to the next wait, or to the end. Rethrows what the collective threw.
  void resume() {
    handle_.resume();
    if (handle_.done() && handle_.promise().error) std::rethrow_exception(handle_.promise().error);
  }
  /// For a task within a task, whose turn it is: `while (rest.go_on()) co_await *rest.awaited();`
  bool go_on() {
    set_first_in_queue();
    resume();
    return !done();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace trainrt::comm
