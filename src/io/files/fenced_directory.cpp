#include "io/files/fenced_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "core/fault_point.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::io {

namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void rename_over(const std::string& from, const std::string& to) {
  if (rename_guarded(from, to) != 0) fail_to_rename(from, to, errno);
}

/// False if there is nothing of that name, or if the directory to move into is gone.
bool moved(const std::string& from, const std::string& to) {
  if (rename_guarded(from, to) == 0) return true;
  if (errno == ENOENT) return false;
  fail_to_rename(from, to, errno);
}

/// The directory may be a symbolic link that somebody made; what it leads to counts.
bool is_there(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

/// It is not there, or a symbolic link has its name. What cannot be looked at is not gone.
bool is_gone_or_fenced(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? S_ISLNK(info.st_mode) : errno == ENOENT;
}

}  // namespace

FencedDirectory::FencedDirectory(std::string path, std::string private_dir)
    : path_(std::move(path)), private_dir_(std::move(private_dir)) {}

std::string FencedDirectory::place_of(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string FencedDirectory::aside(std::string_view name) const {
  std::string flat(name);
  std::ranges::replace(flat, '/', '_');
  return temporary_beside(private_dir_ + "/" + flat);  // ranks of one attempt may write one file
}

void FencedDirectory::explain(std::string_view name, const StorageError& error) const {
  if (error.error_number() != ENOENT) throw StorageError(error);
  if (is_fenced())
    throw FencedOff("cannot change '" + place_of(name) + "': the directory '" + private_dir_ +
                    "' has been taken away, so another attempt owns this run now; this one must end");
  throw StorageError(error.what(), is_there(path_) ? ENOENT : ESTALE, error.path());
}

void FencedDirectory::write_aside(std::string_view name, std::string_view bytes) const {
  const auto written = aside(name);
  try {
    remove_tree(written);
    write_file(written, bytes);
  } catch (const StorageError& error) {
    unlink_guarded(written);
    explain(name, error);
  }
}

void FencedDirectory::replace(std::string_view name, std::string_view bytes) const {
  write_aside(name, bytes);
  try {
    move_out(name);
  } catch (...) {
    unlink_guarded(aside(name));
    throw;
  }
}

void FencedDirectory::move_out(std::string_view name) const try {
  fault_point("replace");
  const auto place = place_of(name);
  rename_over(aside(name), place);
  sync_directory(parent_of(place));
} catch (const StorageError& error) {
  explain(name, error);
}

bool FencedDirectory::create(std::string_view name, std::string_view bytes) const try {
  const auto written = aside(name);
  const auto place = place_of(name);
  write_aside(name, bytes);
  const int linked = link_guarded(written, place);
  const int reason = errno;
  unlink_guarded(written);
  if (linked != 0 && reason == EEXIST) return false;
  if (linked != 0) fail("make", place, reason);
  sync_directory(parent_of(place));
  return true;
} catch (const StorageError& error) {
  explain(name, error);
}

void FencedDirectory::remove(std::string_view name) const {
  const auto taken = aside("removed_" + std::string(name));
  remove_tree(taken);
  if (!moved(place_of(name), taken)) return;
  sync_directory(parent_of(place_of(name)));
  remove_tree(taken);
}

bool FencedDirectory::is_fenced() const {
  // Looked at again at the end: storage that comes back between the first two looks has taken nothing away.
  return is_gone_or_fenced(private_dir_) && is_there(path_) && is_gone_or_fenced(private_dir_);
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
