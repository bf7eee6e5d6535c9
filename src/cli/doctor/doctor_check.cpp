#include "cli/doctor/doctor_check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace trainrt::cli::doctor {

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
  Json figures = Json::object();
  auto finding = check.run(ranks, figures);
  finding.figures = std::move(figures);
  return finding;
} catch (const ProbeFailed& failure) {
  return {check.failed_grade, fmt::format("cannot check {}: {}", check.help, failure.what()), std::string(check.advice)};
}

}  // namespace trainrt::cli::doctor
