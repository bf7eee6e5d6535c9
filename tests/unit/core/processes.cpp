#include "core/process/processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "core/host.hpp"

using namespace trainrt;

TEST_CASE("a process that ends during a query is reported as gone") {
  std::atomic<pid_t> newest = getpid();
  std::atomic<bool> is_over = false;
  std::thread parent([&] {
    for (int i = 0; i < 3000; ++i) {
      const auto child = fork();
      if (child == 0) _exit(0);
      newest = child;
      waitpid(child, nullptr, 0);
    }
    is_over = true;
  });
  std::string trouble;
  while (!is_over && trouble.empty()) try {
      process_start_time(newest);
      cpu_ticks(newest);
      memory_of_process(newest);
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  parent.join();
  CHECK(trouble.empty());
}
