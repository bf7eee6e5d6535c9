#include "cli/runs/read_runs.hpp"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/command_line/existing_path.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

/// Reads a run. Logs a message first if that will take some seconds.
view::RunSummary read_run(const std::string& run_dir) {
  constexpr std::uint64_t takes_seconds = std::uint64_t{100} << 20;
  std::error_code error;
  const auto bytes = fs::file_size(fs::path(run_dir) / metrics::result_log_name, error);
  if (!error && bytes > takes_seconds) log::info(fmt::format("reading {} of reports in {}", byte_size(bytes), run_dir));
  return view::summary_of(run_dir);
}

/// Returns the run directories in `folder`. Throws UsageError if there are none; the message suggests the subfolder
/// runs if it contains run directories.
std::vector<std::string> require_run_dirs(const std::string& folder) {
  constexpr std::string_view valid = "give a run directory, or a folder of runs such as run.storage_path";
  if (!fs::exists(folder)) throw UsageError(fmt::format("'{}' does not exist: {}", folder, valid));
  if (!fs::is_directory(folder)) throw UsageError(fmt::format("'{}' is a file: {}", folder, valid));
  auto run_dirs = view::run_dirs_in(folder);
  if (!run_dirs.empty()) return run_dirs;
  const auto runs = (fs::path(folder) / "runs").lexically_normal().string();  // the usual run.storage_path
  const bool has_runs = fs::is_directory(runs) && !view::run_dirs_in(runs).empty();
  throw UsageError(fmt::format("'{}' is neither a run directory (run.json) nor a folder that contains run directories; {}",
                               folder, has_runs ? fmt::format("did you mean '{}'?", runs) : std::string(valid)));
}

}  // namespace

FolderRuns read_folder(const std::string& folder) {
  const auto run_dirs = require_run_dirs(folder);
  FolderRuns found;
  for (const auto& run_dir : run_dirs) try {
      found.runs.push_back(read_run(run_dir));
    } catch (const Error& error) {
      log::warning(fmt::format("{}: {}", run_dir, error.what()));
      found.all_readable = false;
    }
  return found;
}

std::vector<view::RunSummary> read_runs(const std::vector<std::string>& words) {
  std::vector<view::RunSummary> runs;
  for (const auto& word : words) {
    require_existing(word);
    const auto path = fs::absolute(word).lexically_normal();
    if (io::exists(path / "run.json")) {
      runs.push_back(read_run(path));
      continue;
    }
    auto found = read_folder(path).runs;
    runs.insert(runs.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return runs;
}

}  // namespace trainrt::cli
