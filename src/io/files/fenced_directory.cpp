#include "io/files/fenced_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>

#include "core/fault_point.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::io {

namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Renames `from` to `to`. Returns false if `from`, or the directory of `to`, does not exist.
bool moved(const std::string& from, const std::string& to) {
  if (rename_guarded(from, to) == 0) return true;
  if (errno == ENOENT) return false;
  fail_to_rename(from, to, errno);
}

/// Returns whether `path` exists and its status can be read. Follows a symbolic link at `path`: the user may have replaced
/// the FencedDirectory by a link.
bool is_accessible(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

/// Returns whether `path` does not exist or is a symbolic link. Returns false if its status cannot be read.
bool is_gone_or_link(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? S_ISLNK(info.st_mode) : errno == ENOENT;
}

}  // namespace

FencedDirectory::FencedDirectory(std::string path, std::string private_dir)
    : path_(std::move(path)), private_dir_(std::move(private_dir)) {}

std::string FencedDirectory::path_of(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string FencedDirectory::temporary_path(std::string_view name) const {
  std::string flat(name);
  std::ranges::replace(flat, '/', '_');
  // The path differs between processes, because several ranks may write a file of the same name.
  return temporary_beside(private_dir_ + "/" + flat);
}

void FencedDirectory::rethrow(std::string_view name, const StorageError& error) const {
  if (error.error_number() != ENOENT) throw StorageError(error);
  if (is_fenced())
    throw FencedOff("cannot change '" + path_of(name) + "': the directory '" + private_dir_ +
                    "' was removed, so another attempt owns this run now; this attempt must exit");
  throw StorageError(error.what(), is_accessible(path_) ? ENOENT : ESTALE, error.path());
}

void FencedDirectory::write_temporary(std::string_view name, std::string_view bytes) const {
  const auto temporary = temporary_path(name);
  try {
    remove_tree(temporary);
    write_file(temporary, bytes);
  } catch (const StorageError& error) {
    unlink_guarded(temporary);
    rethrow(name, error);
  }
}

void FencedDirectory::replace(std::string_view name, std::string_view bytes) const {
  write_temporary(name, bytes);
  try {
    publish(name);
  } catch (...) {
    unlink_guarded(temporary_path(name));
    throw;
  }
}

void FencedDirectory::publish(std::string_view name) const try {
  fault_point("replace");
  const auto path = path_of(name);
  rename_over(temporary_path(name), path);
  sync_directory(parent_of(path));
} catch (const StorageError& error) {
  rethrow(name, error);
}

bool FencedDirectory::create(std::string_view name, std::string_view bytes) const try {
  const auto temporary = temporary_path(name);
  const auto path = path_of(name);
  write_temporary(name, bytes);
  const int linked = link_guarded(temporary, path);
  const int reason = errno;
  unlink_guarded(temporary);
  if (linked != 0 && reason == EEXIST) return false;
  if (linked != 0) fail("create", path, reason);
  sync_directory(parent_of(path));
  return true;
} catch (const StorageError& error) {
  rethrow(name, error);
}

void FencedDirectory::remove(std::string_view name) const {
  const auto moved_in = temporary_path("removed_" + std::string(name));
  remove_tree(moved_in);
  if (!moved(path_of(name), moved_in)) return;
  sync_directory(parent_of(path_of(name)));
  remove_tree(moved_in);
}

bool FencedDirectory::is_fenced() const {
  // The private directory must be missing both before and after the check of the FencedDirectory itself. Otherwise, storage
  // that becomes available between two checks would look like fencing.
  return is_gone_or_link(private_dir_) && is_accessible(path_) && is_gone_or_link(private_dir_);
}

std::string fence_off(const std::string& private_dir, const std::string& fenced) {
  remove_tree(fenced);
  if (!moved(private_dir, fenced)) return {};
  try {
    rename_all_in(fenced, "fenced_");
    remove_tree(fenced);
    sync_directory(parent_of(private_dir));
    return {};
  } catch (const StorageError& error) {
    return error.what();
  }
}

}  // namespace trainrt::io
