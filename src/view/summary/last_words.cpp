#include "view/summary/last_words.hpp"

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

constexpr std::int64_t most_bytes_kept = 6000;
constexpr std::size_t most_reports_of_kind = 4;  // of an attempt

/// nullopt if it is empty or cannot be read.
std::optional<LastWords> end_of(const std::string& run_dir, const std::string& file) {
  const io::Descriptor opened(open_guarded(run_dir + "/" + file, O_RDONLY | O_NONBLOCK));
  const std::int64_t size = opened.get() < 0 ? 0 : ::lseek(opened.get(), 0, SEEK_END);
  if (size <= 0) return std::nullopt;
  const auto kept = std::min(size, most_bytes_kept);
  std::string text(static_cast<std::size_t>(kept), '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::pread(opened.get(), text.data(), text.size(), size - kept), 0)));
  const bool is_cut = kept < size;
  if (is_cut) text.erase(0, text.find('\n') + 1);  // half a line; none if it is all one line
  return text.empty() ? std::nullopt : std::optional(LastWords{.file = file, .text = std::move(text), .is_cut = is_cut});
}

/// Names in a folder of the run directory that begin so, with the folder: the first of them.
std::vector<std::string> first_named(const std::string& run_dir, const std::string& folder, std::string_view beginning) {
  std::vector<std::string> found;
  for (const auto& name : io::list_if_exists(run_dir + "/" + folder))
    if (name.starts_with(beginning) && found.size() < most_reports_of_kind) found.push_back(folder + "/" + name);
  return found;
}

bool has_failed(const rundir::AttemptRecord& attempt) { return rundir::went_wrong(rundir::state_of(attempt)); }

}  // namespace

std::vector<LastWords> last_words_of(const RunSummary& run, std::size_t most) {
  std::vector<std::string> files = {"error.txt"};
  for (auto attempt = run.attempts.rbegin(); attempt != run.attempts.rend(); ++attempt) {
    if (!has_failed(*attempt)) continue;
    for (const auto& file :
         first_named(run.run_dir, "logs", "crash-attempt-" + rundir::attempt_name(attempt->number) + "-"))
      files.push_back(file);
    for (const auto& file : first_named(run.run_dir, rundir::hang_folder(attempt->number), "rank-")) files.push_back(file);
  }
  // They go on from attempt to attempt: what an older one said last is not at their end.
  if (!run.attempts.empty() && has_failed(run.attempts.back()))
    for (const auto& file : first_named(run.run_dir, "logs", "rank-")) files.push_back(file);
  std::vector<LastWords> words;
  for (const auto& file : files)
    if (words.size() < most)
      if (auto end = end_of(run.run_dir, file)) words.push_back(std::move(*end));
  return words;
}

}  // namespace trainrt::view
