#include "data/bytes/stage_clock.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace trainrt::data;

namespace {

void pass_time() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

TEST_CASE("time counts for the innermost stage, multiplied by the weight, and only while a clock runs") {
  StageTimes times;
  {
    const InStage unseen(Stage::decode);
    pass_time();
  }
  const auto began = std::chrono::steady_clock::now();
  {
    const StageClock clock(times, 8);
    pass_time();
    const InStage decoding(Stage::decode);
    {
      const InStage reading(Stage::storage);
      pass_time();
    }
    pass_time();
  }
  const auto whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto [storage, decode, transform, batch] = times.seconds();
  for (const auto seconds : {storage, decode, batch}) CHECK(seconds >= 8 * 0.02);
  CHECK(transform == 0);
  CHECK(storage + decode + batch <= 8 * whole);
  {
    const StageClock clock(times, 0);
    pass_time();
  }
  CHECK(times.seconds()[0] == storage);
}
