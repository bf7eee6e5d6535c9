#include "cli/inspect/run_choice.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/terminal/byte_progress.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

/// What takes long to read is announced.
view::RunSummary read_run(const std::string& run_dir) {
  constexpr std::uint64_t takes_seconds = std::uint64_t{100} << 20;
  std::error_code none;
  const auto bytes = fs::file_size(fs::path(run_dir) / metrics::result_log_name, none);
  if (!none && bytes > takes_seconds) log::info(fmt::format("reading {} of reports in {}", bytes_text(bytes), run_dir));
  return view::summary_of(run_dir);
}

}  // namespace

std::vector<view::RunSummary> runs_of(const std::vector<std::string>& words) {
  std::vector<view::RunSummary> runs;
  for (const auto& word : words) {
    const auto path = fs::absolute(word).lexically_normal();
    if (io::exists(path / "run.json")) {
      runs.push_back(read_run(path));
      continue;
    }
    const auto run_dirs = view::run_dirs_in(path);
    if (run_dirs.empty())
      throw UsageError(word + " is neither a run directory (run.json) nor a folder with run directories in it");
    for (const auto& run_dir : run_dirs) try {
        runs.push_back(read_run(run_dir));
      } catch (const Error& error) {
        log::warning(fmt::format("{}: {}", run_dir, error.what()));
      }
  }
  return runs;
}

}  // namespace trainrt::cli
