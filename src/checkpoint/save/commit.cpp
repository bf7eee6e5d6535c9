#include "checkpoint/save/commit.hpp"

#include <cerrno>

#include "checkpoint/format/names.hpp"
#include "checkpoint/save/combined_view.hpp"
#include "checkpoint/save/joined_failures.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/files/fenced_directory.hpp"
#include "io/files/file.hpp"
#include "io/files/file_system.hpp"
#include "io/files/striping.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

Manifest manifest_of(const Commit& commit) {
  Manifest manifest;
  manifest.meta = commit.meta;
  manifest.meta.ranks = commit.layout.ranks;
  manifest.meta.created = utc_now();
  for (int file = 0; file < commit.layout.files(); ++file)
    manifest.shards.push_back({shard_name(file), commit.file_bytes[static_cast<std::size_t>(file)], {}});
  for (std::size_t rank = 0; rank < commit.parts.size(); ++rank) {
    const auto& sealed = commit.parts[rank];
    manifest.shards[static_cast<std::size_t>(commit.layout.file_of_rank[rank])].parts.push_back(sealed.part);
    manifest.files.insert(manifest.files.end(), sealed.files.begin(), sealed.files.end());
  }
  return manifest;
}

void take_back(const SavePaths& paths, const std::string& why) try {
  io::rename_to_new(paths.final, paths.work);
} catch (const Error& error) {
  throw Error(why + "; the checkpoint is still visible, although it may not be durable: " + error.what());
}

/// Renames the directory with the written checkpoint to its final name, and makes the new name durable.
void rename_into_place(const SavePaths& paths, const Observer& observer) {
  io::retried_while_gone(paths.run_dir, [&] { io::sync_directory(paths.work); });
  observer(Phase::directory_synced);
  bool is_free = true;
  io::retried_while_gone(paths.run_dir, [&] { is_free = io::rename_to_new(paths.work, paths.final); });
  if (!is_free)
    throw LostRun(
        "cannot commit checkpoint '" + paths.final +
        "': the directory exists already, so another attempt owns this run now, or the storage returned an old listing; "
        "this attempt must end");
  observer(Phase::renamed);
  try {
    io::retried_while_gone(paths.run_dir, [&] { io::sync_directory(paths.run_dir); });
  } catch (const Error& error) {
    take_back(paths, error.what());  // undo the rename: a name that is not durable must not count as committed
    throw;
  }
  observer(Phase::committed);
}

/// Removes the files of a checkpoint that could not be committed. Returns the error message `why`, with the error of
/// the removal appended if files could not be removed.
std::string drop(const SavePaths& paths, std::string why) {
  try {
    io::remove_tree(paths.work);
  } catch (const Error& error) {
    why += "; " + std::string(error.what());
  }
  return why;
}

void throw_failures(const std::vector<Sealed>& parts) {
  std::vector<std::string> failures;
  bool is_transient = true;
  for (const auto& part : parts) {
    if (part.failure.empty()) continue;
    failures.push_back(part.failure);
    is_transient = is_transient && part.is_transient;
  }
  if (failures.empty()) return;
  const auto text = joined_failures(failures);
  if (is_transient) throw io::StorageError(text, EIO, "");
  throw Error(text);
}

}  // namespace

SavePaths save_paths(const std::string& run_dir, const std::string& private_dir, std::int64_t number) {
  const auto name = directory_name(number);
  return {run_dir, private_dir, private_dir + "/" + name, run_dir + "/" + name};
}

std::string lost_text(const SavePaths& paths) {
  if (!io::FencedDirectory(paths.run_dir, paths.private_dir).is_fenced()) return {};
  return "cannot commit checkpoint '" + paths.final + "': the directory '" + paths.private_dir +
         "' was removed, because another attempt owns this run now; this attempt must end";
}

void prepare_work(const SavePaths& paths, std::uint64_t file_bytes, int files) {
  if (io::exists(paths.work)) io::remove_tree(paths.work);
  if (!io::make_directory(paths.work)) io::fail("make directory", paths.work, EEXIST);
  // Errors of set_striping() are ignored, because the files then get the default striping of the file system.
  if (io::file_system_of(paths.work).name == "lustre") io::set_striping(paths.work, io::striping_for(file_bytes, files));
}

void prepare_files(const SavePaths& paths) { io::make_directories_below(paths.work, paths.work + "/" + files_folder); }

std::uint64_t commit(const Commit& commit, const Observer& observer) try {
  throw_failures(commit.parts);
  if (commit.before) commit.before();
  const auto manifest = manifest_of(commit);
  const auto text = to_text(manifest);
  io::retried_in(commit.paths.run_dir, [&] {
    io::remove_tree(commit.paths.work + "/" + manifest_name);
    io::write_file(commit.paths.work + "/" + manifest_name, text);
  });
  observer(Phase::manifest_written);
  rename_into_place(commit.paths, observer);
  std::uint64_t bytes = text.size();
  for (const auto& shard : manifest.shards) bytes += shard.bytes;
  for (const auto& file : manifest.files) bytes += file.bytes;
  return bytes;
} catch (const LostRun& lost) {
  drop(commit.paths, "");
  throw;
} catch (const io::StorageError& error) {
  if (const auto lost = lost_text(commit.paths); !lost.empty()) throw LostRun(lost);
  throw io::StorageError(drop(commit.paths, error.what()), error.error_number(), error.path(), error.shortage());
} catch (const std::exception& error) {
  if (const auto lost = lost_text(commit.paths); !lost.empty()) throw LostRun(lost);
  throw Error(drop(commit.paths, error.what()));
}

void add_view(const Commit& commit, const Observer& observer) {
  const auto aside = view_aside(commit.paths.private_dir);
  if (commit.layout.complete)
    write_view(commit.paths.final, aside, combined_view(commit.layout, commit.value_names));
  else  // the layout is incomplete, so it is read from the indices in the shard files
    restore_view(commit.paths.final, aside);
  observer(Phase::view_written);
}

}  // namespace trainrt::checkpoint
