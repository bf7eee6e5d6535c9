#include "view/summary/failure_excerpts.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::view {

namespace {

constexpr std::int64_t max_bytes = 6000;         // per file
constexpr std::size_t max_reports_per_kind = 4;  // per attempt

/// Returns the end of a file, or nullopt if the file is empty or cannot be read.
std::optional<FailureExcerpt> end_of(const std::string& run_dir, const std::string& file) {
  const io::Descriptor opened(open_guarded(run_dir + "/" + file, O_RDONLY | O_NONBLOCK));
  const std::int64_t size = opened.get() < 0 ? 0 : ::lseek(opened.get(), 0, SEEK_END);
  if (size <= 0) return std::nullopt;
  const auto kept = std::min(size, max_bytes);
  std::string text(static_cast<std::size_t>(kept), '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::pread(opened.get(), text.data(), text.size(), size - kept), 0)));
  const bool is_cut = kept < size;
  if (is_cut) text.erase(0, text.find('\n') + 1);  // removes an incomplete first line
  return text.empty() ? std::nullopt
                      : std::optional(FailureExcerpt{.file = file, .text = std::move(text), .is_cut = is_cut});
}

/// Returns the first files in `folder` whose names start with `prefix`, as paths relative to the run directory.
std::vector<std::string> first_files(const std::string& run_dir, const std::string& folder, std::string_view prefix) {
  std::vector<std::string> found;
  for (const auto& name : io::list_if_exists(run_dir + "/" + folder))
    if (name.starts_with(prefix) && found.size() < max_reports_per_kind) found.push_back(folder + "/" + name);
  return found;
}

bool has_failed(const rundir::AttemptRecord& attempt) { return rundir::went_wrong(rundir::state_of(attempt)); }

}  // namespace

std::vector<FailureExcerpt> failure_excerpts(const RunSummary& run, std::size_t max_files) {
  std::vector<std::string> files = {"error.txt"};
  for (auto attempt = run.attempts.rbegin(); attempt != run.attempts.rend(); ++attempt) {
    if (!has_failed(*attempt)) continue;
    for (const auto& file :
         first_files(run.run_dir, "logs", "crash-attempt-" + rundir::attempt_name(attempt->number) + "-"))
      files.push_back(file);
    for (const auto& file : first_files(run.run_dir, rundir::hang_folder(attempt->number), "rank-")) files.push_back(file);
  }
  // All attempts append to logs/rank-*.log, so the end of such a file is the output of the newest attempt.
  if (!run.attempts.empty() && has_failed(run.attempts.back()))
    for (const auto& file : first_files(run.run_dir, "logs", "rank-")) files.push_back(file);
  std::vector<FailureExcerpt> excerpts;
  for (const auto& file : files)
    if (excerpts.size() < max_files)
      if (auto end = end_of(run.run_dir, file)) excerpts.push_back(std::move(*end));
  return excerpts;
}

}  // namespace trainrt::view
