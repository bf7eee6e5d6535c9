#include "trainer/stop_margin.hpp"

#include <algorithm>

namespace trainrt::trainer {

double StopMargin::Recent::longest() const { return *std::ranges::max_element(values_); }

std::optional<double> StopMargin::seconds() const {
  constexpr double fixed = 15;
  switch (option_.kind) {
    case config::LimitOption::Kind::off:
      return std::nullopt;
    case config::LimitOption::Kind::seconds:
      return option_.seconds;
    case config::LimitOption::Kind::automatic:
      return fixed + end_s_ + 2 * longest_save() + 2 * gaps_.longest();
  }
  return std::nullopt;
}

}  // namespace trainrt::trainer
