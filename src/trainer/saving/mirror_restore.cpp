#include "trainer/saving/mirror_restore.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "metrics/result_log.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/mirror_writer.hpp"
#include "trainer/saving/mirrored_checkpoint.hpp"
#include "trainer/saving/mirrored_records.hpp"
#include "trainer/saving/restored_records.hpp"

namespace trainrt::trainer {

namespace {

bool has_content(const std::string& directory) { return io::exists(directory) && !io::list_if_exists(directory).empty(); }

/// Owns a temporary directory next to the run directory. publish_as() renames the temporary directory to the run directory;
/// otherwise the destructor removes it.
class NewRunDirectory {
 public:
  /// Creates the temporary directory, and removes temporary directories of killed processes.
  explicit NewRunDirectory(const config::RunSpec& spec) : path_(io::temporary_beside(spec.run_dir)) {
    io::make_directories(spec.run.storage_path);
    io::remove_abandoned(spec.run.storage_path, spec.run.name + ".tmp.");
    io::remove_tree(path_);
    io::make_directories(path_ + "/attempts");
  }
  ~NewRunDirectory() {
    try {
      io::remove_tree(path_);
    } catch (const std::exception& error) {
      log::warning(fmt::format("could not remove {}: {}", path_, error.what()));
    }
  }
  NewRunDirectory(const NewRunDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Syncs the files, and renames the temporary directory to `run_dir`. Throws if `run_dir` is a directory with content.
  void publish_as(const std::string& run_dir) const try {
    io::sync_directory(path_ + "/attempts");
    io::sync_directory(path_);
    if (std::filesystem::is_symlink(run_dir)) io::remove_tree(run_dir);  // only the link
    io::rename_over(path_, run_dir);                                     // replaces only an empty directory
  } catch (const std::exception&) {
    if (!has_content(run_dir)) throw;
    throw Error(fmt::format("another process has restored {} in the meantime", run_dir));
  }

 private:
  std::string path_;
};

/// Removes the records of a run that cannot be restored from the mirror. While these records exist, the mirror refuses
/// a new run, which has another run_id. The checkpoints of the old run are removed later, when the new run has a
/// checkpoint in the mirror.
void abandon_mirrored_run(checkpoint::MirroredRun& mirror) try {
  const auto count = mirror.numbers().complete.size();
  const auto later = fmt::format(
      ". Its checkpoints ({}) cannot be used; these checkpoints are removed when the new run has a checkpoint in the "
      "mirror",
      count);
  log::warning(
      fmt::format("{} has no intact checkpoint. The run starts again at step 0, and replaces the run in the mirror{}",
                  mirror.url(), count > 0 ? later : ""));
  mirror.remove_records();
} catch (const std::exception& error) {
  log::warning(fmt::format("could not remove the records of an earlier run from {}: {}", mirror.url(), error.what()));
}

/// Returns the result of fetch_newest() with the reports in `directory`. If checkpoints are intact but their reports are
/// missing, waits for result.json in the mirror, and throws UsageError if reports are still missing.
FetchedCheckpoint fetch_newest_with_reports(const checkpoint::MirroredRun& mirror, const std::string& directory) {
  auto fetched = fetch_newest(mirror, directory, directory);
  if (fetched.meta || fetched.without_reports.empty()) return fetched;
  if (!io::exists(directory + "/" + metrics::result_log_name)) {
    require_reports(mirror, directory, fetched.without_reports);
    fetched = fetch_newest(mirror, directory, directory);
  }
  if (!fetched.meta) refuse_incomplete_reports(mirror.url(), fetched.without_reports);
  return fetched;
}

}  // namespace

void restore_run_from_mirror(const config::RunSpec& spec) {
  if (has_content(spec.run_dir)) return;
  auto mirror = mirror_of(spec);
  const auto record = mirrored_record(mirror);
  if (!record) return;
  log::info(fmt::format("{} does not exist; restoring the run from {}", spec.run_dir, mirror.url()));
  const GuardedTree guarded(spec.run.storage_path);
  const NewRunDirectory directory(spec);
  fetch_records(mirror, directory.path());
  const auto fetched = fetch_newest_with_reports(mirror, directory.path());
  if (!fetched.meta) return abandon_mirrored_run(mirror);
  fetch_attempts(mirror, directory.path());
  fit_records(directory.path(), *record, *fetched.meta, mirror.url());
  directory.publish_as(spec.run_dir);
  log::info(fmt::format("restored: the run continues from {} ({})", checkpoint::directory_name(fetched.meta->number),
                        rundir::short_point(fetched.meta->step, fetched.meta->iteration)));
}

void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator) {
  if (spec.checkpoint.mirror.empty()) return;
  comm::collectively_on_first(
      communicator, [&] { restore_run_from_mirror(spec); }, with_advice);
}

}  // namespace trainrt::trainer
