// Lines that ranks write of themselves and of their steps: logs/ranks-attempt-000003.jsonl and
// logs/steps-attempt-000003.jsonl.
#include <algorithm>
#include <cmath>

#include "support/fuzz.hpp"
#include "view/rank_lines.hpp"
#include "view/step_windows.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  return {
      R"({"time":"2026-11-24T20:17:01Z","step":812,"steps":50,"own_us":[20000,21000],"waits_us":[1000,0],"work_us":{"input":1},)"
      R"("slow":{"rank":1,"work":"input","ratio":1.19,"why":"clock"}})",
      R"({"step":9223372036854775807,"steps":1e300,"own_us":[1e300,-1,null,"x"],"slow":{"rank":18446744073709551615}})",
      R"({"rank":3,"host":"n2","step":812,"phase":"training","quiet_s":0.2,"waits_in":"","cpu_s":12.3,"cpus":2,"rss":1,"peak":2,)"
      R"("read":1,"written":2,"gpu":0.93,"gpu_memory":123,"energy_j":null,"ended":false}   )",
      std::string(512, '\0') + R"({"rank":18446744073709551615,"step":-1e300,"cpu_s":1e999})",
      "{}",
      "[]",
      deep_json()};
}

std::vector<std::string> words() {
  return {"\"step\":",  "\"steps\":", "\"own_us\":[", "\"waits_us\":[",      "\"work_us\":{",
          "\"slow\":{", "\"rank\":",  "\"ratio\":",   "\"cpu_s\":",          "\"ended\":",
          "1e300",      "-1",         "null",         "18446744073709551615"};
}

/// Neither promises to throw anything at all.
void read(const std::string& input) {
  if (const auto window = view::step_window_from(input, 1)) {
    require(!window->own_us.empty() && window->step >= 0 && window->steps >= 1, "a window has ranks, a step and steps");
    require(std::ranges::none_of(window->own_us, [](float time) { return time < 0 || std::isinf(time); }),
            "times are times, or NaN");
  }
  if (const auto rank = view::rank_line_from(input)) require(rank->rank >= 0 && rank->step >= 0, "a rank has a number");
}

}  // namespace trainrt::fuzz
