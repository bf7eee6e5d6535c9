#include "cli/doctor/found_library.hpp"

#include <fmt/format.h>

namespace trainrt::cli::doctor {

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
    return error(fmt::format("rank 0 on {}: {}; {}", ranks.hosts().front(), text_of(figures), others), same_modules_advice);
  if (figures.at("loaded") == "") return ok(figures.at("problem").get<std::string>() + "; this launch does not need it");
  return ok(text_of(figures));
}

}  // namespace trainrt::cli::doctor
