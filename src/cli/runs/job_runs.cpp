#include "cli/runs/job_runs.hpp"

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

constexpr int max_depth = 3;
constexpr std::size_t max_folders = 5000, max_attempts = 20;

/// Searches a folder and its subfolders for run directories. Does not search inside run directories.
class RunSearch {
 public:
  void search(const fs::path& folder, int depth = 0) {
    if (++searched_ > max_folders) return;
    if (std::error_code none; fs::exists(folder / "run.json", none)) {
      found_.push_back(folder.lexically_normal().string());
      return;
    }
    if (depth == max_depth) return;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code none;
      const bool is_hidden = entry->path().filename().string().starts_with('.');
      if (!is_hidden && entry->is_directory(none) && !entry->is_symlink(none)) search(entry->path(), depth + 1);
    }
  }
  const std::vector<std::string>& found() const { return found_; }
  bool is_incomplete() const { return searched_ > max_folders; }

 private:
  std::vector<std::string> found_;
  std::size_t searched_ = 0;
};

/// Returns the start time of a run's newest attempt in a job; "" if the run has no attempt in that job.
std::string start_in_job(const std::string& run_dir, const std::string& job_id) {
  const auto attempts = rundir::read_attempts(run_dir, max_attempts);
  const auto found =
      std::find_if(attempts.rbegin(), attempts.rend(), [&](const auto& attempt) { return attempt.owner.job_id == job_id; });
  return found == attempts.rend() ? "" : found->start;
}

}  // namespace

std::vector<std::string> find_runs_of_job(const std::string& job, const std::vector<std::string>& storages) {
  const auto location = batch::locate_job(job);
  auto folders = storages;
  if (folders.empty() && !location.work_dir.empty()) folders.push_back(location.work_dir);
  if (storages.empty()) folders.push_back(fs::current_path().string());
  for (auto& folder : folders) folder = fs::absolute(folder).lexically_normal().string();
  std::ranges::sort(folders);
  folders.erase(std::ranges::unique(folders).begin(), folders.end());
  RunSearch finder;
  for (const auto& folder : folders) finder.search(folder);
  std::vector<std::pair<std::string, std::string>> runs;
  for (const auto& run_dir : finder.found())
    if (auto start = start_in_job(run_dir, location.id); !start.empty()) runs.emplace_back(std::move(start), run_dir);
  std::ranges::sort(runs, std::greater());
  runs.erase(std::ranges::unique(runs).begin(), runs.end());
  if (runs.empty())
    throw UsageError(fmt::format(
        "found no run of job {} in {}{}, {} levels deep. If the run is in another folder, give that folder: trainrt top "
        "--job {} STORAGE_PATH. If the job waits in the queue or has just started, try again later: the run appears when "
        "the program calls trainrt, or after one minute if a Python program does not call trainrt",
        job, join(folders), finder.is_incomplete() ? fmt::format(" (the first {} folders)", max_folders) : "", max_depth,
        job));
  std::vector<std::string> run_dirs;
  for (auto& [start, run_dir] : runs) run_dirs.push_back(std::move(run_dir));
  return run_dirs;
}

}  // namespace trainrt::cli
