#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#include <semaphore>
#include <thread>
#else
#include <cxxabi.h>
#include <ucontext.h>
#endif

namespace trainrt::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)

/// Runs several bodies (functions), one at a time. Each body has a thread, since sanitizers do not support ucontext(3).
class Turns {
 public:
  Turns(int count, std::function<void(int)> body) : body_(std::move(body)) {
    for (int i = 0; i <= count; ++i) turns_.push_back(std::make_unique<std::binary_semaphore>(0));
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, i] {
        at(i).acquire();
        body_(i);
      });
  }
  ~Turns() {
    for (auto& thread : threads_) thread.join();
  }
  /// Lets body `first` run. Returns when a body passes the turn to -1, which is allowed only after all bodies have ended.
  void run(int first) {
    at(first).release();
    at(-1).acquire();
  }
  /// Passes the turn from body `from` to `to`, and returns when `from` has its turn again.
  void pass(int from, int to) {
    at(to).release();
    at(from).acquire();
  }
  /// Passes the turn to body `to` from a body that ends.
  void leave(int /*from*/, int to) { at(to).release(); }

 private:
  std::binary_semaphore& at(int index) { return *turns_[static_cast<std::size_t>(index + 1)]; }

  std::function<void(int)> body_;
  std::vector<std::unique_ptr<std::binary_semaphore>> turns_;
  std::vector<std::thread> threads_;
};

#else

/// Runs several bodies (functions), one at a time, on the calling thread. Each has its own stack and its own exceptions.
class Turns {
 public:
  Turns(int count, std::function<void(int)> body) : body_(std::move(body)), contexts_(static_cast<std::size_t>(count) + 1) {
    constexpr std::size_t stack_bytes = std::size_t{1} << 20;
    for (int i = 0; i < count; ++i) {
      auto& context = at(i);
      getcontext(&context.registers);
      context.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
      context.registers.uc_stack.ss_sp = context.stack.get();
      context.registers.uc_stack.ss_size = stack_bytes;
      makecontext(&context.registers, enter, 0);
    }
  }
  /// Lets body `first` run. Returns when a body passes the turn to -1, which is allowed only after all bodies have ended.
  void run(int first) { pass(-1, first); }
  /// Passes the turn from body `from` to `to`, and returns when `from` has its turn again.
  void pass(int from, int to) {
    auto& exceptions = *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
    at(from).exceptions = std::exchange(exceptions, at(to).exceptions);
    entering_ = {this, to};
    swapcontext(&at(from).registers, &at(to).registers);
  }
  /// Passes the turn to body `to` from a body that ends.
  void leave(int from, int to) { pass(from, to); }

 private:
  /// The exceptions of a thread: those that are being handled, and the number of those that unwind (Itanium C++ ABI).
  struct Exceptions {
    void* handled = nullptr;
    unsigned unwinding = 0;
  };
  struct Context {
    ucontext_t registers{};
    std::unique_ptr<char[]> stack;
    Exceptions exceptions;
  };
  static void enter() {
    const auto [turns, index] = entering_;
    turns->body_(index);
  }
  Context& at(int index) { return contexts_[static_cast<std::size_t>(index + 1)]; }

  inline static std::pair<Turns*, int> entering_;  // arguments of the body that begins
  std::function<void(int)> body_;
  std::vector<Context> contexts_;
};

#endif

}  // namespace trainrt::test
