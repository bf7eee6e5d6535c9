#include "cli/checkpoints/find_checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <list>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/retention.hpp"
#include "cli/command_line/existing_path.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

/// Returns the canonical path of a directory. From then on until this process ends, symbolic links inside the directory
/// are not followed.
std::string guarded_directory(const std::string& path) {
  require_existing(path);
  std::error_code error;
  const auto directory = fs::canonical(path, error).string();
  if (error) throw UsageError(fmt::format("'{}': {}", path, error.message()));
  static std::list<GuardedTree> guarded;
  guarded.emplace_back(directory);
  return directory;
}

std::string metrics_of(const std::vector<checkpoint::Meta>& metas) {
  std::set<std::string> names;
  for (const auto& meta : metas)
    for (const auto& [name, value] : meta.metrics) names.insert(name);
  return names.empty() ? "no metrics" : join(std::vector<std::string>(names.begin(), names.end()));
}

/// Sets the metric and the order of `ranking`. `metric` is the value of --best: METRIC, METRIC:min or METRIC:max.
void choose_metric(checkpoint::Retention& ranking, std::string metric) {
  const auto order = metric.substr(std::min(metric.rfind(':'), metric.size()));
  const bool has_order = order == ":min" || order == ":max";
  if (has_order) metric.resize(metric.size() - order.size());
  if (metric.empty())
    throw UsageError("--best= has no metric; the form is --best=METRIC, --best=METRIC:min or --best=METRIC:max");
  if (has_order)
    ranking.maximize = order == ":max";
  else if (metric != ranking.score_attribute)
    ranking.maximize = true;
  if (!has_order && metric != ranking.score_attribute && metric.find("loss") != std::string::npos)
    log::warning(fmt::format("--best={} chooses the highest value; use --best={}:min if lower is better", metric, metric));
  ranking.score_attribute = metric;
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

std::string find_best_checkpoint(const std::string& run_dir, const std::string& metric) {
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
  if (!metric.empty()) choose_metric(retention, metric);
  const auto metas = checkpoint::list(directory);
  if (retention.score_attribute.empty())
    throw UsageError(
        fmt::format("the run '{}' sets no checkpoint.score_attribute: name a metric with --best=METRIC:max or "
                    "--best=METRIC:min. Its checkpoints have: {}",
                    run_dir, metrics_of(metas)));
  const auto* best = checkpoint::best_of(metas, retention);
  if (best == nullptr)
    throw UsageError(
        fmt::format("the metric '{}' is missing or NaN in all checkpoints of the run '{}'. The checkpoints have: {}",
                    retention.score_attribute, run_dir, metrics_of(metas)));
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
