#include "view/summary/purge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

constexpr double seconds_per_day = 86400;
constexpr double days_of_warning = 7;

}  // namespace

std::string purge_warning(const std::string& run_dir, std::int64_t purge_days) {
  if (purge_days <= 0) return {};
  const auto newest = checkpoint::highest_number(run_dir);
  if (newest < 0) return {};
  const auto name = checkpoint::directory_name(newest);
  struct stat found {};
  if (stat_guarded(run_dir + "/" + name + "/" + checkpoint::manifest_name, found) != 0) return {};
  const double limit_days = static_cast<double>(purge_days);
  const double age_days = std::difftime(std::time(nullptr), found.st_mtime) / seconds_per_day;
  if (age_days < limit_days - std::min(days_of_warning, limit_days / 2)) return {};
  return fmt::format(
      "{}, the newest checkpoint, is {} old, and this storage removes files that are {} old (storage.purge_days). Continue "
      "the run, copy {} to permanent storage, or set checkpoint.mirror",
      name, counted(static_cast<std::int64_t>(age_days), "day"), counted(purge_days, "day"), run_dir);
}

std::string purge_warning(const std::string& run_dir, const rundir::RunRecord& record) {
  const auto key = record.spec.find("storage.purge_days");
  return key == record.spec.end() ? std::string() : purge_warning(run_dir, parse_integer(key->second).value_or(0));
}

}  // namespace trainrt::view
