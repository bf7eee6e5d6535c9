#include "cli/checkpoints/find_checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <list>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/retention.hpp"
#include "cli/command_line/intended_call.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

/// Returns the canonical path of a directory, and lets no symbolic link inside it be followed until this process ends.
std::string guarded_directory(const std::string& path) {
  require_existing(path);
  std::error_code error;
  const auto directory = fs::canonical(path, error).string();
  if (error) throw UsageError(fmt::format("'{}': {}", path, error.message()));
  static std::list<GuardedTree> guarded;
  guarded.emplace_back(directory);
  return directory;
}

}  // namespace

std::string find_checkpoint(const std::string& path) {
  const fs::path directory = guarded_directory(path);
  if (io::exists(directory / checkpoint::manifest_name)) return directory;
  if (!fs::is_directory(directory))
    throw UsageError(fmt::format("'{}' is a file: a checkpoint or run directory is required", path));
  const auto newest = checkpoint::highest_number(directory);
  if (newest >= 0) return directory / checkpoint::directory_name(newest);
  if (io::exists(directory / "run.json"))
    throw UsageError(fmt::format("the run '{}' has no checkpoint{}", path,
                                 rundir::last_attempt_was_silent(directory)
                                     ? ": its program does not report progress, and saves its own files"
                                     : " yet"));
  throw UsageError(
      fmt::format("'{}' is neither a checkpoint (manifest.json) nor a run directory (run.json, checkpoint_000000)", path));
}

std::string find_best_checkpoint(const std::string& run_dir) {
  const auto directory = guarded_directory(run_dir);
  const auto record = rundir::read_run_record(directory);
  if (!record) throw UsageError(fmt::format("'{}' is not a run directory (run.json), which --best requires", run_dir));
  const auto setting = [&](const char* key) {
    const auto found = record->spec.find(key);
    return found == record->spec.end() ? std::string() : found->second;
  };
  checkpoint::Retention retention;
  retention.score_attribute = setting("checkpoint.score_attribute");
  retention.maximize = setting("checkpoint.score_order") != "min";
  if (retention.score_attribute.empty())
    throw UsageError(fmt::format(
        "the run '{}' has no best checkpoint, because it sets no checkpoint.score_attribute: leave out --best", run_dir));
  const auto metas = checkpoint::list(directory);
  const auto* best = checkpoint::best_of(metas, retention);
  if (best == nullptr)
    throw UsageError(fmt::format("no checkpoint of the run '{}' has a value of the metric '{}' other than NaN", run_dir,
                                 retention.score_attribute));
  const auto is_nan = [&](const checkpoint::Meta& meta) {
    const auto found = meta.metrics.find(retention.score_attribute);
    return found != meta.metrics.end() && std::isnan(found->second);
  };
  if (const auto count = std::ranges::count_if(metas, is_nan); count > 0)
    log::warning(fmt::format("{} of {} checkpoints have NaN as {} and were ignored", count, metas.size(),
                             retention.score_attribute));
  return directory + "/" + checkpoint::directory_name(best->number);
}

}  // namespace trainrt::cli
