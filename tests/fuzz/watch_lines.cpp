// Parses lines about the steps of ranks: logs/steps-attempt-000003.jsonl.
#include <algorithm>
#include <cmath>

#include "support/fuzz/fuzz.hpp"
#include "view/curves/step_windows.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  return {
      R"({"time":"2026-11-24T20:17:01Z","step":812,"steps":50,"own_us":[20000,21000],"waits_us":[1000,0],"work_us":{"input":1},)"
      R"("slow":{"rank":1,"work":"input","ratio":1.19,"why":"clock"}})",
      R"({"step":9223372036854775807,"steps":1e300,"own_us":[1e300,-1,null,"x"],"slow":{"rank":18446744073709551615}})",
      "{}", "[]", deep_json()};
}

std::vector<std::string> words() {
  return {"\"step\":",  "\"steps\":", "\"own_us\":[", "\"waits_us\":[", "\"work_us\":{",       "\"slow\":{", "\"rank\":",
          "\"ratio\":", "1e300",      "-1",           "null",           "18446744073709551615"};
}

/// The parser must not throw.
void read(const std::string& input) {
  if (const auto window = view::step_window_from(input, 1)) {
    require(!window->own_us.empty() && window->step >= 0 && window->steps >= 1, "a window has ranks, a step and steps");
    require(std::ranges::none_of(window->own_us, [](float time) { return time < 0 || std::isinf(time); }),
            "times are times, or NaN");
  }
}

}  // namespace trainrt::fuzz
