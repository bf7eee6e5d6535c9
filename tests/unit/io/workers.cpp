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

TEST_CASE("one worker runs its tasks in the order of submission") {
  std::vector<int> done;
  io::Workers workers(1);
  for (int i = 0; i < 100; ++i) workers.submit([&done, i] { done.push_back(i); });
  workers.drain();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(done == expected);
}

TEST_CASE("several workers run tasks at the same time") {
  io::Workers workers(3);
  std::latch all(3);  // each task waits for the others
  for (int i = 0; i < 3; ++i) workers.submit([&all] { all.arrive_and_wait(); });
  workers.drain();
  CHECK(all.try_wait());
}

TEST_CASE("drain() waits for running tasks and those they submit, and until their captures are destroyed") {
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
  workers.drain();  // without tasks
}

TEST_CASE("the destructor of the workers waits for all tasks") {
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

TEST_CASE("workers block all signals except faults, and keep the caller's signal mask") {
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

TEST_CASE("drain_within() returns after its time limit") {
  std::promise<void> go;
  trainrt::io::Workers workers(2);
  CHECK(workers.drain_within(0.01));
  workers.submit([done = go.get_future().share()] { done.wait(); });
  CHECK_FALSE(workers.drain_within(0.05));
  go.set_value();
  CHECK(workers.drain_within(30));
}
