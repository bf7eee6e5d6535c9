#include "cli/doctor/doctor_versions.hpp"

#include <fmt/format.h>

namespace trainrt::cli::doctor {

Finding compare_versions(const Examination& examination, LibraryVersion (*version)(), const std::string& note) {
  const auto answers = examination.ask([&] {
    const auto mine = version();
    return Json{{"compiled", mine.compiled}, {"loaded", mine.loaded}};
  });
  if (!answers.well())
    return error(examination.describe(answers.troubles), "load the library's module on every node, or install it there");
  const auto& first = answers.of_rank.front();
  const std::string compiled = first.at("compiled");
  const std::string loaded = first.at("loaded");
  std::vector<Trouble> others;
  for (std::size_t rank = 1; rank < answers.of_rank.size(); ++rank)
    if (answers.of_rank[rank] != first)
      others.push_back({static_cast<int>(rank), answers.of_rank[rank].at("loaded").get<std::string>()});
  if (!others.empty())
    return error(fmt::format("rank 0 on {}: {}; {}", examination.hosts().front(), loaded, examination.describe(others)),
                 "load the same modules on every node (srun hands on the environment of the shell it is typed in)", first);
  if (compiled != loaded)
    return warning(fmt::format("{} is loaded, and trainrt is compiled against {}", loaded, compiled),
                   "load the module of the one it is compiled against, or build trainrt with this one", first);
  return ok(fmt::format("{}, the one compiled against{}", loaded, note), first);
}

}  // namespace trainrt::cli::doctor
