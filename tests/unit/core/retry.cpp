#include "core/retry.hpp"

#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;

namespace {

/// Retry limits with a fake clock, which only the pauses between retries advance.
struct Clock {
  double now_s = 0;
  std::vector<double> pauses;
  std::vector<std::string> said;

  RetryLimits limits(double limit_s) {
    RetryLimits limits;
    limits.limit_s = limit_s;
    limits.first_pause_s = 1;
    limits.max_pause_s = 4;
    limits.now = [this] { return now_s; };
    limits.pause = [this](double seconds) {
      pauses.push_back(seconds);
      now_s += seconds;
    };
    limits.notify = [this](const std::string& text) { said.push_back(text); };
    return limits;
  }
};

bool always(const std::exception&) { return true; }

}  // namespace

TEST_CASE("successful work is called once without notification") {
  Clock clock;
  int calls = 0;
  retry(
      "storage", [&] { ++calls; }, always, clock.limits(10));
  CHECK(calls == 1);
  CHECK(clock.said.empty());
}

TEST_CASE("work with temporary errors is retried with growing pauses and two notifications") {
  Clock clock;
  int calls = 0;
  const auto work = [&] {
    if (++calls < 6) throw std::runtime_error("gone");
  };
  retry("storage", work, always, clock.limits(30));
  CHECK(calls == 6);
  CHECK(clock.pauses == std::vector<double>{1, 2, 4, 4, 4});
  REQUIRE(clock.said.size() == 2);
  CHECK(clock.said.front() == "storage does not answer: gone; trying again for 30 s");
  CHECK(clock.said.back() == "storage answers again, after 15.0 s");
}

TEST_CASE("the last try is at the limit, and its error is thrown") {
  Clock clock;
  int calls = 0;
  const auto work = [&] { throw std::runtime_error(std::to_string(++calls)); };
  CHECK_THROWS_WITH(retry("storage", work, always, clock.limits(5)), "4");
  CHECK(clock.now_s == 5);
  CHECK(clock.pauses == std::vector<double>{1, 2, 2});
  CHECK(clock.said.size() == 1);
}

TEST_CASE("without a limit, or with a permanent error, there is one try") {
  Clock clock;
  int calls = 0;
  const auto work = [&] {
    ++calls;
    throw std::runtime_error("gone");
  };
  CHECK_THROWS(retry("storage", work, always, clock.limits(0)));
  CHECK_THROWS(retry(
      "storage", work, [](const std::exception&) { return false; }, clock.limits(10)));
  CHECK(calls == 2);
  CHECK(clock.said.empty());
}
