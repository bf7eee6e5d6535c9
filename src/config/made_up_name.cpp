#include "config/made_up_name.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/text.hpp"

namespace trainrt::config {

namespace {

constexpr std::size_t longest_stem = 40;

std::string stem_of(const std::string& source) {
  auto stem = std::filesystem::path(source).stem().string().substr(0, longest_stem);
  std::ranges::replace_if(
      stem, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  return stem.empty() ? "program" : stem;
}

std::string hash_of(const std::vector<std::string>& command) {
  std::string words;
  for (const auto& word : command) words += word + '\0';
  return fmt::format("{:08x}", static_cast<std::uint32_t>(stable_hash(words)));
}

/// To the millisecond, so that runs that are started one after the other are apart.
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

std::string made_up_name(const std::string& source, const std::vector<std::string>& command,
                         const Environment& environment) {
  const auto job = job_of(environment);
  const auto stem = stem_of(source);
  return job.empty() ? fmt::format("{}-{}", stem, date()) : fmt::format("{}-{}-{}", stem, job, hash_of(command));
}

}  // namespace trainrt::config
