#include "cli/doctor/doctor_check.hpp"

#include <algorithm>
#include <array>

namespace trainrt::cli::doctor {

std::string_view name_of(Grade grade) {
  static constexpr std::array<std::string_view, 3> names = {"ok", "warning", "error"};
  return names[static_cast<std::size_t>(grade)];
}

Finding ok(std::string text, Json figures) { return {Grade::ok, std::move(text), {}, std::move(figures)}; }

Finding warning(std::string text, std::string advice, Json figures) {
  return {Grade::warning, std::move(text), std::move(advice), std::move(figures)};
}

Finding error(std::string text, std::string advice, Json figures) {
  return {Grade::error, std::move(text), std::move(advice), std::move(figures)};
}

std::vector<const Check*> checks_in_order() {
  const auto table = check_table();
  std::vector<const Check*> checks(table.begin(), table.end());
  std::ranges::sort(checks, {}, [](const Check* check) { return check->place; });
  return checks;
}

}  // namespace trainrt::cli::doctor
