#include "program/staging/worker.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <sched.h>
#include <sys/stat.h>

#include "core/process/thread.hpp"

namespace trainrt::program::stage {

Worker::Worker(Work work) {
  thread_without_signals([work = std::move(work), state = state_] {
    run(work, *state);
    state->ended = true;
  }).detach();
}

void Worker::run(const Work& work, State& state) {
  if (unshare(CLONE_FS) != 0) {
    state.error = std::string("cannot give the thread its own current folder: ") + std::strerror(errno);
    return;
  }
  umask(0);  // keeps the modes of the source; a private folder contains the tree
  try {
    work(state.queue);
  } catch (const Cancelled&) {
  } catch (const std::exception& error) {
    state.error = error.what();
  }
}

Worker::~Worker() {
  queue().cancel();
  static_cast<void>(ends_within(5));
}

bool Worker::ends_within(double seconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!has_ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return has_ended();
}

std::string Worker::error() const { return has_ended() ? state_->error : std::string(); }

}  // namespace trainrt::program::stage
