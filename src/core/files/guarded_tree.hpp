#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <optional>
#include <string>

namespace trainrt {

/// Protects a directory tree against symbolic links. While an object of this class exists, the functions below
/// (open_guarded() and others) follow no symbolic link below the directory `root`. The code that uses these functions,
/// such as src/io and the ranks' log files, is thereby protected, too.
///
/// The functions look up each path component from an open descriptor of `root` (core/files/beneath.hpp) and fail with
/// ELOOP at a symbolic link. `root` itself may be a symbolic link or be reached through symbolic links.
///
/// A path is guarded if it begins with `root`, spelled as it was passed to the constructor, and has no component "..". If
/// the trees of several objects overlap, the innermost root applies. `users` names a folder in `root` that belongs to the
/// user's program: symbolic links in that folder are followed. "" means that there is no such folder. Thread-safe.
class GuardedTree {
 public:
  explicit GuardedTree(std::string root, std::string users = "");
  ~GuardedTree();
  GuardedTree(const GuardedTree&) = delete;
  GuardedTree& operator=(const GuardedTree&) = delete;

 private:
  std::string root_, users_;
};

/// Opens a file as open(2) does with `flags`, `mode` and O_CLOEXEC, and retries if a signal interrupts the call. Follows no
/// symbolic link below a GuardedTree. Returns a descriptor that the caller owns, or -1 with errno.
int open_guarded(const std::string& path, int flags, mode_t mode = 0666);

/// unlink(2), rename(2) and link(2) that follow no symbolic link below a GuardedTree. If `from` is a symbolic link,
/// link_guarded() creates a hard link to the symbolic link itself. Return 0, or -1 with errno.
int unlink_guarded(const std::string& path);
int rename_guarded(const std::string& from, const std::string& to);
int link_guarded(const std::string& from, const std::string& to);

/// rmdir(2) that follows no symbolic link below a GuardedTree. Returns 0, or -1 with errno.
int remove_directory_guarded(const std::string& path);

/// stat(2) that follows no symbolic link below a GuardedTree: it fails with ELOOP if any component of `path`, including the
/// last one, is such a link. Returns 0 and fills `info`, or returns -1 with errno.
int stat_guarded(const std::string& path, struct stat& info);

/// A path as a directory descriptor and a name in that directory, the two arguments of unlinkat(2) and similar system
/// calls. For a path below a GuardedTree, the directory is the path's parent directory, opened without following symbolic
/// links, and the name is the last path component. For any other path, the directory is AT_FDCWD, and the name is the
/// complete path. Owns the directory's descriptor.
class PathEntry {
 public:
  explicit PathEntry(const std::string& path);
  ~PathEntry();
  PathEntry(const PathEntry&) = delete;
  PathEntry& operator=(const PathEntry&) = delete;

  int error() const { return error_; }  ///< errno if the path's parent directory could not be opened, else 0
  int directory() const { return directory_; }
  const char* name() const { return name_.c_str(); }
  bool is_guarded() const { return is_guarded_; }

 private:
  int directory_;
  int error_ = 0;
  bool is_guarded_ = false;
  std::string name_;
};

/// Calls `call(directory, name)` with the PathEntry of `path`, and repeats the call if a signal interrupts it. Returns the
/// result of `call`; -1 with errno if the parent directory of `path` cannot be opened.
template <class Call>
int at_entry(const std::string& path, Call call) {
  const PathEntry entry(path);
  if (entry.error() != 0) {
    errno = entry.error();
    return -1;
  }
  int result = call(entry.directory(), entry.name());
  while (result < 0 && errno == EINTR) result = call(entry.directory(), entry.name());
  return result;
}

/// Calls `call(from_directory, from_name, to_directory, to_name)`, for example renameat(2), with the PathEntry of `from`
/// and the PathEntry of `to`. Repeats the call if a signal interrupts it. Returns the result of `call`; -1 with errno if a
/// parent directory cannot be opened.
template <class Call>
int at_entries(const std::string& from, const std::string& to, Call call) {
  return at_entry(from, [&](int from_directory, const char* from_name) {
    return at_entry(
        to, [&](int to_directory, const char* to_name) { return call(from_directory, from_name, to_directory, to_name); });
  });
}

/// The path of a symbolic link below a GuardedTree, and the root directory of that tree.
struct LinkInTheWay {
  std::string link, root;
};
/// Returns the first path component of `path` that is a symbolic link below a GuardedTree, for error messages; nullopt if
/// there is no such link.
std::optional<LinkInTheWay> link_in_the_way(const std::string& path);

}  // namespace trainrt
