#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "comm/backend.hpp"
#include "comm/node/thread_group.hpp"

namespace trainrt::test {

/// Runs `rank_main` on `size` ranks, each a thread, and rethrows the exception of the lowest rank after all have returned.
/// Catch2's macros are not thread-safe: use them after the call, or under a mutex.
inline void run_launched(int size, const std::function<void(launch::Launch&)>& rank_main, double timeout_seconds = 20) {
  const auto group = std::make_shared<comm::ThreadGroup>(size, timeout_seconds);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      comm::ThreadLaunch launch(group, rank);
      try {
        rank_main(launch);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        group->abandon(error.what());
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        group->abandon("an exception that is not a std::exception");
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

inline void run_ranks(int size, const std::function<void(Communicator&)>& rank_main, double timeout_seconds = 20) {
  run_launched(
      size,
      [&](launch::Launch& launch) {
        const auto communicator = comm::open_communicator(launch, {});
        rank_main(*communicator);
      },
      timeout_seconds);
}

}  // namespace trainrt::test
