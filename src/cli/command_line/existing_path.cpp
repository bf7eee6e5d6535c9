#include "cli/command_line/existing_path.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/missing_checkpoint.hpp"
#include "core/files/similar_directory.hpp"
#include "core/text/text.hpp"
#include "rundir/attempts/start_claim.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

/// Returns the directory that the user probably meant by `path`: runs/PATH if it is a run directory. Otherwise, returns
/// a run, sweep, checkpoint or folder of runs with a similar name, also from ./runs; "" if there is none.
std::string similar_run(const std::string& path) {
  std::error_code error;
  if (path.empty()) return "";
  const auto in_runs = (fs::path("runs") / path).string();
  const bool is_relative = fs::path(path).is_relative();
  if (is_relative && fs::exists(fs::path(in_runs) / "run.json", error)) return in_runs;
  const auto similar = similar_directory(path, run_markers);
  return similar.empty() && is_relative ? similar_directory(in_runs, run_markers) : similar;
}

}  // namespace

void require_existing(const std::string& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) return;
  if (!path.empty() && rundir::is_being_started(path))
    throw UsageError(
        fmt::format("'{}' does not exist yet: the run is being started, but its program has not opened it. Try again later",
                    excerpt(path)));
  if (const auto checkpoints = checkpoint::existing_checkpoints(path); !checkpoints.empty())
    throw UsageError(fmt::format("'{}' does not exist; {}", excerpt(path), checkpoints));
  const auto similar = similar_run(path);
  throw UsageError(fmt::format("'{}' does not exist{}", excerpt(path),
                               similar.empty() ? "" : fmt::format("; did you mean '{}'?", similar)));
}

}  // namespace trainrt::cli
