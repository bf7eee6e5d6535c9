#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"

namespace trainrt::io {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// Opens the directory `name` in the open directory `parent`. Returns -1 and sets errno on failure. A symbolic link is an
/// error.
int open_directory(int parent, const char* name) {
  return uninterrupted([&] { return ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
}

struct DirectoryEntry {
  std::string name;
  unsigned char type;  ///< type from readdir(3): DT_DIR, DT_REG, ..., or DT_UNKNOWN
};

/// Returns the entries of the open directory `fd`, sorted by name, without "." and "..".
std::vector<DirectoryEntry> entries_in(int fd, const std::string& path) {
  Descriptor own(::dup(fd));
  std::unique_ptr<DIR, CloseDirectory> directory(own.get() < 0 ? nullptr : ::fdopendir(own.get()));
  if (directory == nullptr) fail("list", path, errno);
  own.release();
  ::rewinddir(directory.get());
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) fail("list", path, errno);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") entries.push_back({name, entry->d_type});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

std::vector<std::string> names_in(int fd, const std::string& path) {
  std::vector<std::string> names;
  for (auto& entry : entries_in(fd, path)) names.push_back(std::move(entry.name));
  return names;
}

/// Returns whether `entry`, an entry of the open directory `fd`, is a directory. Calls fstatat(2) only if readdir(3) did
/// not return the entry's type.
bool is_directory_in(int fd, const DirectoryEntry& entry, const std::string& path) {
  if (entry.type != DT_UNKNOWN) return entry.type == DT_DIR;
  struct stat info {};
  if (::fstatat(fd, entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    fail("read the status of", path + "/" + entry.name, errno);
  return S_ISDIR(info.st_mode);
}

void remove_below(int parent, const std::string& name, const std::string& path) {
  if (uninterrupted([&] { return ::unlinkat(parent, name.c_str(), 0); }) == 0 || errno == ENOENT) return;
  const int error = errno;
  // On a read-only file system, unlink() fails even if the file does not exist.
  if (error == EROFS && ::faccessat(parent, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return;
  if (error != EISDIR && error != EPERM) fail("remove", path, error);
  const Descriptor fd(open_directory(parent, name.c_str()));
  if (fd.get() < 0) fail("remove", path, errno);
  for (const auto& inner : names_in(fd.get(), path)) remove_below(fd.get(), inner, path + "/" + inner);
  if (uninterrupted([&] { return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR); }) != 0 && errno != ENOENT)
    fail("remove", path, errno);
}

void list_below(int fd, const std::string& path, const std::string& prefix, std::vector<std::string>& files) {
  for (const auto& entry : entries_in(fd, path)) {
    const auto& name = entry.name;
    if (!is_directory_in(fd, entry, path)) {
      files.push_back(prefix + name);
      continue;
    }
    const Descriptor inner(open_directory(fd, name.c_str()));
    if (inner.get() < 0) fail("list", path + "/" + name, errno);
    list_below(inner.get(), path + "/" + name, prefix + name + "/", files);
  }
}

Descriptor open_to_list(const std::string& path) {
  Descriptor fd(open_guarded(path, O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) fail("open directory", path, errno);
  return fd;
}

int make_one(const std::string& path) {
  return at_entry(path, [](int directory, const char* name) { return ::mkdirat(directory, name, 0777); });
}

/// Creates the directory `path` and its missing parents. Throws StorageError with ENOENT if another process removes one
/// of these directories in the meantime.
void make_each(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    at = std::min(path.find('/', at), path.size());
    const auto part = path.substr(0, at);
    if (make_one(part) == 0 || errno == EEXIST) continue;
    struct stat info {};
    // If a directory exists in a read-only parent directory, mkdir(2) may return another error than EEXIST.
    const int reason = errno;
    if (stat_guarded(part, info) != 0) fail("make directory", part, reason);
  }
  struct stat info {};
  if (stat_guarded(path, info) != 0) fail("make directory", path, errno);
  if (!S_ISDIR(info.st_mode)) fail("make directory", path, ENOTDIR);
}

}  // namespace

void sync_directory(const std::string& path) {
  const auto fd = open_to_list(path);
  // EINVAL and ENOTSUP are not errors: the file system does not support fsync on a directory.
  if (uninterrupted([&] { return ::fsync(fd.get()); }) != 0 && errno != EINVAL && errno != ENOTSUP)
    fail("make directory durable (fsync)", path, errno);
}

void make_directories(const std::string& path) {
  constexpr int max_attempts = 100;
  for (int attempt = 1;; ++attempt) {
    try {
      return make_each(path);
    } catch (const StorageError& error) {
      // Repeat after ENOENT: another process may have removed a parent directory while it was empty
      // (rundir::remove_made_storage()).
      if (error.error_number() != ENOENT || attempt == max_attempts) throw;
    }
  }
}

bool make_directory(const std::string& path) {
  if (make_one(path) == 0) return true;
  if (errno == EEXIST) return false;
  fail("make directory", path, errno);
}

void make_directories_below(const std::string& base, const std::string& path) {
  for (auto at = base.size(); at < path.size();) {
    at = std::min(path.find('/', at + 1), path.size());
    make_directory(path.substr(0, at));
  }
}

void rename_over(const std::string& from, const std::string& to) {
  if (rename_guarded(from, to) != 0) fail_to_rename(from, to, errno);
}

bool rename_to_new(const std::string& from, const std::string& to) {
  const auto renamed = at_entries(from, to, [](int from_directory, const char* old, int to_directory, const char* name) {
    return ::renameat2(from_directory, old, to_directory, name, RENAME_NOREPLACE);
  });
  if (renamed == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) fail_to_rename(from, to, errno);
  // The file system does not support RENAME_NOREPLACE, so `to` is checked first. If another process creates the directory
  // `to` in between, rename(2) replaces it only if it is empty.
  if (exists(to)) return false;
  if (rename_guarded(from, to) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  fail_to_rename(from, to, errno);
}

void exchange(const std::string& a, const std::string& b) {
  const auto exchanged = at_entries(a, b, [](int a_directory, const char* a_name, int b_directory, const char* b_name) {
    return ::renameat2(a_directory, a_name, b_directory, b_name, RENAME_EXCHANGE);
  });
  if (exchanged == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail("exchange '" + a + "' and", b, errno);
  const auto temporary = a + ".exchanged";
  rename_over(b, temporary);
  rename_over(a, b);
  rename_over(temporary, a);
}

void remove_tree(const std::string& path) {
  const PathEntry entry(path);
  if (entry.error() == ENOENT) return;
  if (entry.error() != 0) fail("remove", path, entry.error());
  remove_below(entry.directory(), entry.name(), path);
}

void rename_all_in(const std::string& directory, const std::string& prefix) {
  const Descriptor fd(open_guarded(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (fd.get() < 0 && (errno == ELOOP || errno == ENOTDIR)) return;
  if (fd.get() < 0) fail("open directory", directory, errno);
  for (const auto& name : names_in(fd.get(), directory))
    if (::renameat(fd.get(), name.c_str(), fd.get(), (prefix + name).c_str()) != 0 && errno != ENOENT)
      fail("rename", directory + "/" + name, errno);
}

bool is_link(const std::string& path) {
  struct stat info {};
  return link_status(path, info) == 0 && S_ISLNK(info.st_mode);
}

bool exists(const std::string& path) {
  struct stat info {};
  if (link_status(path, info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  fail("read the status of", path, errno);
}

std::vector<std::string> list_directory(const std::string& path) { return names_in(open_to_list(path).get(), path); }

std::vector<std::string> list_if_exists(const std::string& path) try {
  return list_directory(path);
} catch (const StorageError& error) {
  if (error.error_number() == ENOENT || error.error_number() == ENOTDIR) return {};
  throw;
}

std::vector<std::string> list_files_below(const std::string& path) {
  std::vector<std::string> files;
  list_below(open_to_list(path).get(), path, "", files);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace trainrt::io
