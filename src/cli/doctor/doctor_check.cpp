#include "cli/doctor/doctor_check.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

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

Finding warning_if(std::string problems, std::string advice, std::string text, Json figures) {
  return problems.empty() ? ok(std::move(text), std::move(figures))
                          : warning(std::move(problems), std::move(advice), std::move(figures));
}

std::vector<const Check*> checks_in_order(bool has_program) {
  const auto table = check_table();
  std::vector<const CheckGroup*> groups(table.begin(), table.end());
  std::ranges::sort(groups, {}, &CheckGroup::order);
  std::vector<const Check*> checks;
  for (const auto* group : groups)
    if (has_program || !group->needs_program)
      for (const auto& check : group->checks) checks.push_back(&check);
  return checks;
}

Finding run_check(const Check& check, const DoctorRanks& ranks) try {
  return check.run(ranks);
} catch (const ProbeFailed& failure) {
  return {check.failed_grade, fmt::format("cannot check {}: {}", check.help, failure.what()), std::string(check.advice)};
}

}  // namespace trainrt::cli::doctor
