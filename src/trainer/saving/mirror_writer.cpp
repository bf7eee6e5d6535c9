#include "trainer/saving/mirror_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

checkpoint::MirroredRun mirror_of(const config::RunSpec& spec) {
  const auto& text = spec.checkpoint.mirror;
  auto url = io::storage_url(text);
  if (!url) url = io::StorageUrl{"file", "", std::filesystem::absolute(text).lexically_normal().string().substr(1)};
  url->options.keys = io::mirror_keys();
  auto prefix = url->name;
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  return {io::open_storage(*url), prefix + spec.run.name + "/"};
}

MirrorWriter::MirrorWriter(const config::RunSpec& spec, std::function<void()> require_newest)
    : run_dir_(spec.run_dir),
      require_newest_(std::move(require_newest)),
      mirror_(mirror_of(spec)),
      artifacts_(spec.run_dir) {
  const auto numbers = checkpoint::numbers_in(run_dir_);
  seen_ = {numbers.begin(), numbers.end()};
  if (!numbers.empty()) initial_ = numbers.back();
}

MirrorWriter::Copy MirrorWriter::copy(std::int64_t number, const std::function<void()>& on_send) {
  seen_.insert(number);
  const auto opened = open_checkpoint(number);  // keeps the files readable if the checkpoint is deleted meanwhile
  if (!opened) return Copy::deleted;
  require_this_run();
  const bool is_complete = mirror_.holds(*opened);
  if (!is_complete) {
    on_send();
    copy_records();
    abort_unfinished_uploads();
    mirror_.remove(number);  // the mirror may have an abandoned checkpoint with the same number
    mirror_.put(*opened);
  }
  equal_.insert(number);
  return is_complete ? Copy::complete : Copy::sent;
}

/// Opens checkpoint `number` of the run directory. Returns nullopt if the checkpoint was deleted.
std::optional<checkpoint::HeldCheckpoint> MirrorWriter::open_checkpoint(std::int64_t number) const try {
  return checkpoint::HeldCheckpoint(run_dir_, number);
} catch (const Error&) {
  if (io::exists(run_dir_ + "/" + checkpoint::directory_name(number))) throw;
  return std::nullopt;
}

/// Throws Error if the mirror contains another run with a complete checkpoint. If the other run has no complete checkpoint,
/// it cannot be restored, and its records are removed from the mirror.
void MirrorWriter::require_this_run() {
  const auto text = mirror_.text_of("run.json");
  if (text.empty()) return;
  const auto run_id = rundir::run_record_from(text, mirror_.url() + "run.json").run_id;
  if (run_id == rundir::read_seen_run_record(run_dir_).run_id) return;
  if (!mirror_.numbers().complete.empty())
    throw Error(
        "the mirror contains another run of this name. Set another checkpoint.mirror, or remove that run from the mirror");
  log::warning(fmt::format("{} has the records of another run, but no complete checkpoint; the records are replaced",
                           mirror_.url()));
  mirror_.remove_records();
}

/// Aborts unfinished uploads of earlier attempts that were killed. Only the first call has an effect. Uploads are listed
/// before require_newest_() is called. If that call returns, this attempt is the newest, so all listed uploads were begun
/// by earlier attempts. If the storage cannot list uploads, a message is logged.
void MirrorWriter::abort_unfinished_uploads() try {
  const auto require_newest = std::exchange(require_newest_, nullptr);
  if (!require_newest) return;
  const auto uploads = mirror_.unfinished_uploads();
  if (uploads.empty()) return;
  require_newest();
  for (const auto& upload : uploads) mirror_.abort_upload(upload);
  log::info(fmt::format("aborted {} at {} that an earlier attempt left unfinished",
                        counted(static_cast<std::int64_t>(uploads.size()), "upload"), mirror_.url()));
} catch (const std::exception& error) {
  log::info(
      fmt::format("could not abort uploads that earlier attempts left unfinished at {}: {}", mirror_.url(), error.what()));
}

void MirrorWriter::copy_records() {
  std::vector<std::string> names{"run.json", "params.json", "trainer.json", "result.json"};
  for (const int number : rundir::numbers_of_attempts(run_dir_))
    names.push_back(fmt::format("attempts/{}.json", rundir::attempt_name(number)));
  for (const auto& name : names)
    if (io::exists(run_dir_ + "/" + name) && mirror_.text_of(name) != io::read_file(run_dir_ + "/" + name))
      mirror_.put_file(run_dir_, name);
}

void MirrorWriter::copy_artifacts() {
  if (!artifacts_.exist()) return;
  require_this_run();
  artifacts_.copy_to(mirror_);
}

/// Returns whether checkpoint `number` has equal manifests in the run directory and in the mirror. Returns true if the
/// checkpoint was deleted in the run directory.
bool MirrorWriter::is_equal(std::int64_t number) try {
  if (equal_.contains(number)) return true;
  const auto path = run_dir_ + "/" + checkpoint::directory_name(number) + "/" + checkpoint::manifest_name;
  if (mirror_.manifest_of(number) != io::read_file(path)) return false;
  equal_.insert(number);
  return true;
} catch (const io::StorageError&) {
  if (io::exists(run_dir_ + "/" + checkpoint::directory_name(number))) throw;
  return true;
}

void MirrorWriter::prune(std::int64_t newest, bool has_committed) {
  const auto mirrored = mirror_.numbers();  // listed before the run directory, so that later copies are not removed
  const auto numbers = checkpoint::numbers_in(run_dir_);
  if (numbers.empty()) return;
  seen_.insert(numbers.begin(), numbers.end());
  for (const auto number : mirrored.complete) {
    const bool exists = std::ranges::find(numbers, number) != numbers.end();
    const bool is_deleted = seen_.contains(number) && number < newest;
    const bool is_abandoned = !seen_.contains(number) && has_committed && number > initial_.value_or(-1);
    if (exists ? !is_equal(number) : is_deleted || is_abandoned) mirror_.remove(number);
  }
  for (const auto number : mirrored.begun)
    if (number < newest) mirror_.remove(number);
}

}  // namespace trainrt::trainer
