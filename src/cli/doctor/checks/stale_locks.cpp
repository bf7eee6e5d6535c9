// Locks that a killed program has left where torch compiles extensions: every later start would wait for them for ever.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/stale_locks.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double least_age_s = 600;  // of a build that is still under way: DeepSpeed's operators take a minute or two

std::string age_text(double seconds) {
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 48 * 3600 ? fmt::format("{:.0f} h", seconds / 3600) : fmt::format("{:.0f} days", seconds / 86400);
}

Finding examine_stale_locks(const Examination& examination) {
  const auto answers = examination.ask_nodes([&] {
    Json found = Json::array();
    for (const auto& lock : stale_locks_in(torch_extensions_folder(examination.environment()), least_age_s))
      found.push_back({{"path", lock.path}, {"age_seconds", lock.age_s}});
    return found;
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "look at TORCH_EXTENSIONS_DIR there");
  std::vector<Trouble> troubles;
  std::vector<std::string> paths;
  for (std::size_t node = 0; node < answers.of_rank.size(); ++node)
    for (const auto& lock : answers.of_rank[node]) {
      const std::string path = lock.at("path");
      troubles.push_back(
          {examination.leaders()[node], fmt::format("{} is {} old", path, age_text(lock.at("age_seconds")))});
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    }
  const Json figures = {{"folder", torch_extensions_folder(examination.environment())}, {"locks", paths}};
  if (troubles.empty()) return ok("none where torch compiles extensions", figures);
  std::vector<std::string> words;
  for (const auto& path : paths) words.push_back(shell_quoted(path));
  return warning(examination.describe(troubles),
                 "torch and DeepSpeed wait for it without an end: if no program compiles there now, rm " + join(words, " "),
                 figures);
}

}  // namespace

extern const Check stale_locks;
const Check stale_locks{.name = "stale_locks",
                        .help = "locks that a killed program has left where torch compiles extensions",
                        .place = 240,
                        .run = examine_stale_locks,
                        .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
