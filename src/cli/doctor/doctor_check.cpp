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

Finding compare_found(const DoctorRanks& ranks, Json& figures, launch::FoundLibrary (*find)()) {
  const auto answers = ranks.ask([&] {
    const auto mine = find();
    return Json{{"compiled", mine.version.compiled},
                {"loaded", mine.version.loaded},
                {"path", mine.path},
                {"problem", mine.problem}};
  });
  figures = answers.first();
  const auto text_of = [](const Json& answer) {
    const std::string loaded = answer.at("loaded");
    const std::string path = answer.at("path");
    return loaded.empty() ? "not found" : path.empty() ? loaded : fmt::format("{} ({})", loaded, path);
  };
  const auto others =
      ranks.problems_in(answers, [&](const Json& answer) { return answer == figures ? "" : text_of(answer); });
  if (!others.empty())
    return error(fmt::format("rank 0 on {}: {}; {}", ranks.hosts().front(), text_of(figures), others),
                 "load the same modules on every node (srun passes on the environment of the shell in which it runs)");
  if (figures.at("loaded") == "") return ok(figures.at("problem").get<std::string>() + "; this launch does not need it");
  return ok(text_of(figures));
}

}  // namespace trainrt::cli::doctor
