#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt::metrics {

/// One aggregated report: what a line of result.json holds. Values keep their order. NaN and infinities are allowed here;
/// JSON gets null for NaN.
struct Record {
  using Value = std::variant<double, std::int64_t, std::string>;
  std::int64_t iteration = 0;                         ///< 1 for the first report of a run
  std::vector<std::pair<std::string, Value>> values;  ///< autofilled keys included

  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : values)
      if (name == key) return &value;
    return nullptr;
  }
};

}  // namespace trainrt::metrics
