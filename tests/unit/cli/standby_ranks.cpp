#include "cli/supervise/standby_ranks.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::cli;
using launch::RankGroup;

TEST_CASE("a standby that cannot be started for any reason is not started again") {
  int starts = 0;
  StandbyRanks standby([&]() -> std::unique_ptr<RankGroup> {
    ++starts;
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  standby.keep();
  standby.keep();
  CHECK(starts == 1);
  CHECK(!standby.take());
}

TEST_CASE("standbys whose processes always end are started 8 times") {
  int starts = 0;
  StandbyRanks standby(
      [&] {
        ++starts;
        return std::make_unique<RankGroup>(std::vector<std::string>{"/bin/false"}, 1, launch::GroupLimits{},
                                           launch::GroupInput{}, RankGroup::Start::as_standby);
      },
      0);
  for (int turn = 0; turn < 100; ++turn) {
    standby.keep();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(starts == 8);
}
