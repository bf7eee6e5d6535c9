#include "io/files/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <latch>
#include <memory>
#include <numeric>

using namespace trainrt;

TEST_CASE("one worker does its tasks in the order they came") {
  std::vector<int> done;
  io::Workers workers(1);
  for (int i = 0; i < 100; ++i) workers.submit([&done, i] { done.push_back(i); });
  workers.drain();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(done == expected);
}

TEST_CASE("workers do tasks at once") {
  io::Workers workers(3);
  std::latch all(3);  // each waits for the others
  for (int i = 0; i < 3; ++i) workers.submit([&all] { all.arrive_and_wait(); });
  workers.drain();
  CHECK(all.try_wait());
}

TEST_CASE("drain waits for tasks that run and for what tasks submit, and what a task holds is gone by then") {
  io::Workers workers(2);
  std::atomic<int> done{0};
  auto held = std::make_shared<int>(1);
  workers.submit([&workers, &done, held] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    workers.submit([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ++done;
    });
    ++done;
  });
  workers.drain();
  CHECK(done == 2);
  CHECK(held.use_count() == 1);
  workers.drain();  // with nothing to wait for
}

TEST_CASE("the end of the workers waits for all tasks that were given") {
  std::atomic<int> done{0};
  {
    io::Workers workers(2);
    for (int i = 0; i < 50; ++i)
      workers.submit([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done;
      });
  }
  CHECK(done == 50);
}

TEST_CASE("workers take no signals, but those of their own faults, and leave the caller's mask as it was") {
  sigset_t inside{}, before{}, after{};
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  io::Workers workers(1);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  workers.submit([&inside] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
  workers.drain();
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD}) {
    CHECK(sigismember(&inside, signal) == 1);
    CHECK(sigismember(&after, signal) == sigismember(&before, signal));
  }
  CHECK(sigismember(&inside, SIGSEGV) == 0);
}

TEST_CASE("waiting for workers has a limit where that is asked for") {
  std::promise<void> go;
  trainrt::io::Workers workers(2);
  CHECK(workers.drain_within(0.01));
  workers.submit([done = go.get_future().share()] { done.wait(); });
  CHECK_FALSE(workers.drain_within(0.05));
  go.set_value();
  CHECK(workers.drain_within(30));
}
