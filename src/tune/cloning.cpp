#include "tune/cloning.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::tune {

namespace {

namespace fs = std::filesystem;

std::string folder_of(std::uint64_t trial, int generation, const Sweep& sweep) {
  return fmt::format("clones/{}", sweep.name_of(trial, generation));
}

/// Each file is a hard link, where the file system has them, else a copy.
void link_all(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto target = to / entry.path().filename();
    std::error_code failed;
    if (entry.is_directory())
      link_all(entry.path(), target);
    else if (fs::create_hard_link(entry.path(), target, failed); failed)
      fs::copy_file(entry.path(), target);
  }
}

/// False if the checkpoint went away meanwhile.
bool try_to_link(const fs::path& from, const fs::path& folder) {
  fs::remove_all(folder);  // of somebody who was killed
  try {
    link_all(from, folder / from.filename());
  } catch (const fs::filesystem_error&) {
    if (fs::exists(from / checkpoint::manifest_name)) throw;
  }
  return fs::exists(from / checkpoint::manifest_name);
}

/// The newest of a report; of a run that has none the newest, at which it was stopped: then what a clone begins with does
/// not hang on when its donor was interrupted.
std::optional<checkpoint::Meta> newest_of_report(const std::string& run_dir) {
  const auto all = checkpoint::list(run_dir);
  if (all.empty()) return std::nullopt;
  const auto found = std::ranges::find(all.rbegin(), all.rend(), false, &checkpoint::Meta::at_stop);
  return found == all.rend() ? all.back() : *found;
}

}  // namespace

Clone made_clone(const Sweep& sweep, const Scheduler& scheduler, const History& history, std::uint64_t trial) {
  const auto& self = history.trials().at(trial);
  const auto donor_number = self.cloning->verdict.donor;
  const auto& donor = history.trials().at(donor_number);
  const auto donor_dir = fmt::format("{}/{}", sweep.directory(), sweep.name_of(donor_number, donor.generation));
  const auto iteration = self.cloning->report.at.iteration;
  const auto folder = folder_of(trial, self.generation + 1, sweep);
  for (auto newest = newest_of_report(donor_dir); newest; newest = newest_of_report(donor_dir)) {
    const auto from = fs::path(donor_dir) / checkpoint::directory_name(newest->number);
    if (!try_to_link(from, sweep.directory() + "/" + folder)) continue;
    fs::copy_file(fs::path(donor_dir) / metrics::result_log_name,
                  fs::path(sweep.directory()) / folder / metrics::result_log_name);
    const auto& params = donor.params.empty() ? sweep.params_of(donor_number) : donor.params;
    return {trial,
            self.generation + 1,
            iteration,
            fmt::format("{}/{}", folder, from.filename().string()),
            scheduler.explored(params, sweep.mutations(), trial, self.generation + 1),
            donor_number,
            {donor.generation, newest->iteration}};
  }
  return {trial, self.generation, iteration, ""};
}

void remove_clone(const Sweep& sweep, std::uint64_t trial, int generation) {
  if (generation < 2) return;
  std::error_code ignored;  // it costs room, and no more
  fs::remove_all(sweep.directory() + "/" + folder_of(trial, generation, sweep), ignored);
}

}  // namespace trainrt::tune
