#include "rundir/records/point_words.hpp"

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::rundir {

std::string point_in_words(std::int64_t step, std::int64_t iteration) {
  return step > 0 ? fmt::format("step {}, iteration {}", step, iteration) : short_point(step, iteration);
}

std::string short_point(std::int64_t step, std::int64_t iteration) {
  return step > 0 || iteration <= 0 ? fmt::format("step {}", step) : fmt::format("iteration {}", iteration);
}

std::string progress_in_words(std::int64_t step, std::int64_t iteration) {
  if (step <= 0 && iteration <= 0) return "no report and no step";
  if (step <= 0) return counted(iteration, "iteration");
  return iteration <= 0 ? counted(step, "step") : counted(iteration, "iteration") + ", " + counted(step, "step");
}

}  // namespace trainrt::rundir
