#include "config/run_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "config/sections/run.hpp"
#include "core/text/text.hpp"

namespace trainrt::config {

namespace {

constexpr std::size_t max_stem_bytes = 40;

std::string stem_of(const std::string& source) {
  auto stem = std::filesystem::path(source).stem().string().substr(0, max_stem_bytes);
  std::ranges::replace_if(
      stem, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  const auto repeated = std::ranges::unique(stem, [](char a, char b) { return a == '_' && b == '_'; });
  stem.erase(repeated.begin(), repeated.end());
  while (stem.ends_with('_')) stem.pop_back();
  return stem.empty() ? "program" : stem;
}

/// Returns whether the environment variable `name` may differ between ranks or attempts of one run, judged by its name.
bool varies_within_run(std::string_view name) {
  constexpr std::array<std::string_view, 6> beginnings{"PMI", "OMPI_", "MPI_", "CUDA_", "TRAINRT_", "SLURM_STEP"};
  constexpr std::array<std::string_view, 9> parts{"RANK", "PROCID", "LOCALID", "NODE",  "PID",
                                                  "HOST", "TMP",    "RESTART", "RANDOM"};
  return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); }) ||
         std::ranges::any_of(parts, [&](auto part) { return name.find(part) != std::string_view::npos; });
}

/// Adds the names of the environment variables that occur in `text` as $NAME or ${NAME} to `names`.
void add_variables(std::set<std::string>& names, const std::string& text) {
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    auto begin = at + 1;
    if (begin < text.size() && text[begin] == '{') ++begin;
    auto end = begin;
    while (end < text.size() && is_name(static_cast<unsigned char>(text[end]))) ++end;
    if (end > begin && std::isdigit(static_cast<unsigned char>(text[begin])) == 0)
      names.insert(text.substr(begin, end - begin));
  }
}

std::string hash_of(const std::vector<std::string>& words) {
  std::string joined;
  for (const auto& word : words) joined += word + '\0';
  return fmt::format("{:08x}", static_cast<std::uint32_t>(stable_hash(joined)));
}

/// Returns the current UTC time with milliseconds, so that runs that are started one after the other get different names.
std::string date() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), milliseconds);
}

std::string job_of(const Environment& environment) {
  const auto array = environment.text("SLURM_ARRAY_JOB_ID");
  const auto task = environment.text("SLURM_ARRAY_TASK_ID");
  return array && task ? *array + "_" + *task : environment.text("SLURM_JOB_ID").value_or("");
}

}  // namespace

std::string generated_run_name(const std::string& source, const std::vector<std::string>& command,
                               const Environment& environment, const std::vector<std::string>& words,
                               const std::vector<std::string>& texts) {
  const auto job = job_of(environment);
  const auto stem = stem_of(source);
  if (job.empty()) return fmt::format("{}-{}", stem, date());
  std::set<std::string> names;
  for (const auto* list : {&command, &words, &texts})
    for (const auto& text : *list) add_variables(names, text);
  auto hashed = command;
  hashed.insert(hashed.end(), words.begin(), words.end());
  for (const auto& name : names)
    if (const auto value = environment.text(name.c_str()); value && !varies_within_run(name))
      hashed.push_back(name + "=" + *value);
  return fmt::format("{}-{}-{}", stem, job, hash_of(hashed));
}

std::string name_option(const std::string& name) { return fmt::format("--run.name={} (before --)", shell_quoted(name)); }

std::string again(const RunKeys& run) { return run.continue_with.empty() ? "again" : "again with " + run.continue_with; }

}  // namespace trainrt::config
