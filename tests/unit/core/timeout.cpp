#include "core/process/timeout.hpp"

#include <atomic>
#include <future>

#include <catch2/catch.hpp>

using trainrt::Timeout;

TEST_CASE("a timeout acts after its time, in its own thread") {
  std::promise<std::thread::id> acted;
  const Timeout timeout(0.01, [&] { acted.set_value(std::this_thread::get_id()); });  // a second call would throw
  CHECK(acted.get_future().get() != std::this_thread::get_id());
}

TEST_CASE("a timeout destroyed before its time does nothing and does not block") {
  std::atomic<bool> acted = false;
  {
    const Timeout timeout(1000, [&] { acted = true; });
  }
  CHECK_FALSE(acted);
}
