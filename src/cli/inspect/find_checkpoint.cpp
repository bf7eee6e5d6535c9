#include "cli/inspect/find_checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <list>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/retention.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

void guard_until_the_end(const std::string& directory) {
  static std::list<GuardedTree> guarded;
  guarded.emplace_back(directory);
}

}  // namespace

std::string find_checkpoint(const std::string& path) {
  std::error_code error;
  const auto directory = fs::canonical(path, error);
  if (error) throw UsageError(fmt::format("'{}': {}", path, error.message()));
  guard_until_the_end(directory);
  if (io::exists(directory / checkpoint::manifest_name)) return directory;
  if (!fs::is_directory(directory)) throw UsageError(fmt::format("'{}' is no directory of a checkpoint or a run", path));
  const auto newest = checkpoint::highest_number(directory);
  if (newest >= 0) return directory / checkpoint::directory_name(newest);
  if (io::exists(directory / "run.json"))
    throw UsageError(fmt::format("the run '{}' has no checkpoint{}", path,
                                 rundir::last_attempt_was_silent(directory)
                                     ? ": its program does not report progress, and saves by itself"
                                     : " yet"));
  throw UsageError(
      fmt::format("'{}' is neither a checkpoint (manifest.json) nor a run directory (run.json, checkpoint_000000)", path));
}

std::string find_best_checkpoint(const std::string& run_dir) {
  std::error_code error;
  const auto directory = fs::canonical(run_dir, error).string();
  if (error) throw UsageError(fmt::format("'{}': {}", run_dir, error.message()));
  guard_until_the_end(directory);
  const auto record = rundir::read_run_record(directory);
  if (!record)
    throw UsageError(fmt::format("'{}' is no run directory (run.json), and only a run has a best checkpoint", run_dir));
  const auto word = [&](const char* key) {
    const auto found = record->spec.find(key);
    return found == record->spec.end() ? std::string() : found->second;
  };
  checkpoint::Retention retention;
  retention.score_attribute = word("checkpoint.score_attribute");
  retention.maximize = word("checkpoint.score_order") != "min";
  if (retention.score_attribute.empty())
    throw UsageError(
        fmt::format("the run '{}' has no checkpoint.score_attribute: nothing says which checkpoint is best", run_dir));
  const auto metas = checkpoint::list(directory);
  const auto* best = checkpoint::best_of(metas, retention);
  if (best == nullptr)
    throw UsageError(fmt::format("no checkpoint of the run '{}' has the metric '{}', or all have NaN", run_dir,
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
