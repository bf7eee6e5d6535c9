#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <optional>
#include <string>

namespace trainrt {

/// While an object lives, the file functions below, and all that is built on them (src/io, the logs of the ranks), follow
/// no symbolic link below the directory `root`: they look up each component from an open descriptor of the root
/// (core/files/beneath.hpp), and fail with ELOOP at a link. The root itself may be a link or be reached through links.
///
/// A path is guarded if it begins with `root` as it was given and has no component "..". If trees overlap, the innermost
/// root counts. Links in the folder `users` of the root are followed, since it belongs to the user's program; "": no such
/// folder. Any thread may make an object.
class GuardedTree {
 public:
  explicit GuardedTree(std::string root, std::string users = "");
  ~GuardedTree();
  GuardedTree(const GuardedTree&) = delete;
  GuardedTree& operator=(const GuardedTree&) = delete;

 private:
  std::string root_, users_;
};

/// Calls open(2) with O_CLOEXEC, and repeats it if a signal interrupts it. Returns -1 with errno if it fails.
int open_guarded(const std::string& path, int flags, mode_t mode = 0666);

/// Call unlink(2), rename(2) and link(2). link_guarded() does not follow a symbolic link `from`.
int unlink_guarded(const std::string& path);
int rename_guarded(const std::string& from, const std::string& to);
int link_guarded(const std::string& from, const std::string& to);

/// Calls rmdir(2).
int remove_directory_guarded(const std::string& path);

/// Calls stat(2). Fails with ELOOP at a symbolic link below a guarded tree.
int stat_guarded(const std::string& path, struct stat& info);

/// A path in the form that unlinkat(2) and similar calls take: an open directory and a name in it. Below a guarded tree
/// these are the path's parent, opened without following links, and the last component; elsewhere AT_FDCWD and the path.
class PathEntry {
 public:
  explicit PathEntry(const std::string& path);
  ~PathEntry();
  PathEntry(const PathEntry&) = delete;
  PathEntry& operator=(const PathEntry&) = delete;

  int error() const { return error_; }  ///< errno if the parent could not be opened, else 0
  int directory() const { return directory_; }
  const char* name() const { return name_.c_str(); }
  bool is_guarded() const { return is_guarded_; }

 private:
  int directory_;
  int error_ = 0;
  bool is_guarded_ = false;
  std::string name_;
};

/// Calls `call(directory, name)` for the entry of `path`, and repeats it if a signal interrupts it. Returns its result; -1
/// with errno if the parent cannot be opened.
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

/// Calls `call(directory, name, directory, name)`, such as renameat(2), for the entries of two paths.
template <class Call>
int at_entries(const std::string& from, const std::string& to, Call call) {
  return at_entry(from, [&](int from_directory, const char* from_name) {
    return at_entry(
        to, [&](int to_directory, const char* to_name) { return call(from_directory, from_name, to_directory, to_name); });
  });
}

/// A symbolic link below a guarded tree, and the root of that tree.
struct LinkInTheWay {
  std::string link, root;
};
/// Returns the first symbolic link on `path` below a guarded tree, for messages; nullopt if there is no link.
std::optional<LinkInTheWay> link_in_the_way(const std::string& path);

}  // namespace trainrt
