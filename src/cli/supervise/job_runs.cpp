#include "cli/supervise/job_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/slurm_job.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

constexpr int deepest = 3;
constexpr std::size_t most_folders = 5000, most_attempts = 20;

/// The run directories in a folder and below, without looking into those.
class RunSearch {
 public:
  void look_in(const fs::path& folder, int depth = 0) {
    if (++looked_at_ > most_folders) return;
    if (std::error_code none; fs::exists(folder / "run.json", none)) {
      found_.push_back(folder.lexically_normal().string());
      return;
    }
    if (depth == deepest) return;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code none;
      const bool is_hidden = entry->path().filename().string().starts_with('.');
      if (!is_hidden && entry->is_directory(none) && !entry->is_symlink(none)) look_in(entry->path(), depth + 1);
    }
  }
  const std::vector<std::string>& found() const { return found_; }
  bool gave_up() const { return looked_at_ > most_folders; }

 private:
  std::vector<std::string> found_;
  std::size_t looked_at_ = 0;
};

/// When the newest of its attempts in that job began; "" if it has none.
std::string begun_in(const std::string& run_dir, const std::string& job_id) {
  const auto attempts = rundir::read_attempts(run_dir, most_attempts);
  const auto found =
      std::find_if(attempts.rbegin(), attempts.rend(), [&](const auto& attempt) { return attempt.owner.job_id == job_id; });
  return found == attempts.rend() ? "" : found->start;
}

}  // namespace

std::vector<std::string> runs_of_job(const std::string& job, const std::vector<std::string>& storages) {
  const auto place = batch::locate_job(job);
  auto folders = storages;
  if (folders.empty() && !place.work_dir.empty()) folders.push_back(place.work_dir);
  if (storages.empty()) folders.push_back(fs::current_path().string());
  RunSearch search;
  for (auto& folder : folders) search.look_in(folder = fs::absolute(folder).lexically_normal().string());
  std::vector<std::pair<std::string, std::string>> runs;
  for (const auto& run_dir : search.found())
    if (auto start = begun_in(run_dir, place.id); !start.empty()) runs.emplace_back(std::move(start), run_dir);
  std::ranges::sort(runs, std::greater());
  runs.erase(std::ranges::unique(runs).begin(), runs.end());
  if (runs.empty())
    throw UsageError(fmt::format(
        "no run of job {} was found in {}{}, {} folders deep. Name its run directory, or the folder that it is in: trainrt "
        "top --job {} STORAGE_PATH",
        job, join(folders), search.gave_up() ? fmt::format(" (the first {} folders)", most_folders) : "", deepest, job));
  std::vector<std::string> run_dirs;
  for (auto& [start, run_dir] : runs) run_dirs.push_back(std::move(run_dir));
  return run_dirs;
}

}  // namespace trainrt::cli
