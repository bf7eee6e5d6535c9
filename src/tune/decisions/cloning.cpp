#include "tune/decisions/cloning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::tune {

namespace {

namespace fs = std::filesystem;

std::string folder_of(std::uint64_t trial, int generation, const Sweep& sweep) {
  return fmt::format("clones/{}", sweep.name_of(trial, generation));
}

void copy_file(const std::string& from, const std::string& to) {
  io::FileReader reader(from);
  io::FileWriter writer(to);
  std::vector<std::byte> block(std::size_t{1} << 20);
  while (const auto count = reader.read(block)) writer.write(std::span(block).first(count));
  writer.finish();
}

/// Creates the folder `to` with the files of `from`. Uses hard links where the file system supports them, otherwise
/// copies.
void link_all(const std::string& from, const std::string& to) {
  io::make_directories(to);
  for (const auto& name : io::list_files_below(from)) {
    const auto target = to + "/" + name;
    io::make_directories_below(to, target.substr(0, target.rfind('/')));
    if (link_guarded(from + "/" + name, target) != 0) copy_file(from + "/" + name, target);
  }
}

/// Links the checkpoint `from`. Returns false if the checkpoint was removed in the meantime.
bool try_to_link(const std::string& from, const std::string& folder) {
  const auto still_exists = [&] { return io::exists(from + "/" + checkpoint::manifest_name); };
  io::remove_tree(folder);  // a killed process may have left it
  try {
    link_all(from, folder + "/" + fs::path(from).filename().string());
  } catch (const io::StorageError&) {
    if (still_exists()) throw;
  }
  return still_exists();
}

/// Returns the newest checkpoint that was saved at a report: a clone must not depend on the time at which its donor was
/// interrupted. If no checkpoint was saved at a report, returns the newest of all checkpoints. Ignores checkpoints
/// after the report `last`, unless there are no others.
std::optional<checkpoint::Meta> newest_of_report(const std::string& run_dir, std::int64_t last) {
  auto all = checkpoint::list(run_dir);
  if (all.empty()) return std::nullopt;
  const auto is_late = [last](const auto& each) { return each.iteration > last; };
  if (!std::ranges::all_of(all, is_late)) std::erase_if(all, is_late);
  const auto found = std::ranges::find(all.rbegin(), all.rend(), false, &checkpoint::Meta::at_stop);
  return found == all.rend() ? all.back() : *found;
}

}  // namespace

Clone make_clone(const Sweep& sweep, const Scheduler& scheduler, const History& history, std::uint64_t trial) {
  const auto& self = history.trials().at(trial);
  const auto donor_number = self.cloning->verdict.donor;
  const auto& donor = history.trials().at(donor_number);
  const auto donor_dir = fmt::format("{}/{}", sweep.directory(), sweep.name_of(donor_number, donor.generation));
  const auto iteration = self.cloning->report.at.iteration;
  const auto folder = folder_of(trial, self.generation + 1, sweep);
  const auto last = scheduler.clones_from_compared_report() ? iteration : std::numeric_limits<std::int64_t>::max();
  for (auto newest = newest_of_report(donor_dir, last); newest; newest = newest_of_report(donor_dir, last)) {
    const auto from = donor_dir + "/" + checkpoint::directory_name(newest->number);
    if (!try_to_link(from, sweep.directory() + "/" + folder)) continue;
    copy_file(fmt::format("{}/{}", donor_dir, metrics::result_log_name),
              fmt::format("{}/{}/{}", sweep.directory(), folder, metrics::result_log_name));
    const auto& params = donor.params.empty() ? sweep.params_of(donor_number) : donor.params;
    return {trial,
            self.generation + 1,
            iteration,
            fmt::format("{}/{}", folder, fs::path(from).filename().string()),
            scheduler.explored(params, sweep.mutations(), trial, self.generation + 1),
            donor_number,
            {donor.generation, newest->iteration}};
  }
  return {trial, self.generation, iteration, ""};
}

std::string start_of_clone(const Sweep& sweep, const std::string& clone_of) {
  const auto path = sweep.directory() + "/" + clone_of;
  if (clone_of.empty() || io::exists(path)) return clone_of;
  const auto folder = fs::path(clone_of).parent_path().string();
  const auto newest = checkpoint::highest_number(sweep.directory() + "/" + folder);
  return newest < 0 ? clone_of : folder + "/" + checkpoint::directory_name(newest);
}

void remove_clone(const Sweep& sweep, std::uint64_t trial, int generation) {
  if (generation < 2) return;
  try {
    io::remove_tree(sweep.directory() + "/" + folder_of(trial, generation, sweep));
  } catch (const Error&) {  // ignored: a leftover link only uses space
  }
}

}  // namespace trainrt::tune
