#include "config/score_order.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace trainrt::config {

std::string score_order_warning(const RunSpec& spec) {
  const auto& attribute = spec.checkpoint.score_attribute;
  std::string lower = attribute;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.find("loss") == std::string::npos || spec.given.find("checkpoint.score_order") != nullptr) return {};
  return fmt::format(
      "checkpoint.score_attribute = {} with the default score_order = max keeps the checkpoints with the highest {}; set "
      "score_order = min if lower is better",
      attribute, attribute);
}

}  // namespace trainrt::config
