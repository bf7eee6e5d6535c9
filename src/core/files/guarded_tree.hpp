#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <optional>
#include <string>

namespace trainrt {

/// While it lives, no file function of this process follows a symbolic link below the directory `root`: each path below
/// it is looked up from an open descriptor of the root (core/files/beneath.hpp), and a link on the way is ELOOP. The root
/// itself, which the user has named, may be a link or be reached through links. Trees may overlap; the innermost root
/// counts. Paths must begin with `root` as it was given, and those with a component ".." are not guarded. Links in the
/// folder `users` of the root (empty: no such folder) are followed, as the user's own program owns it. Any thread may make
/// one.
///
/// The file functions are open_guarded(), PathEntry and what is built on them: all of src/io, and the logs of the ranks.
class GuardedTree {
 public:
  explicit GuardedTree(std::string root, std::string users = "");
  ~GuardedTree();
  GuardedTree(const GuardedTree&) = delete;
  GuardedTree& operator=(const GuardedTree&) = delete;

 private:
  std::string root_, users_;
};

/// open(2) with O_CLOEXEC. Returns -1 with errno if it fails. Repeats interrupted calls.
int open_guarded(const std::string& path, int flags, mode_t mode = 0666);

/// unlink(2), rename(2) and link(2). The source of a link that is a symbolic link is not followed either.
int unlink_guarded(const std::string& path);
int rename_guarded(const std::string& from, const std::string& to);
int link_guarded(const std::string& from, const std::string& to);

/// rmdir(2).
int remove_directory_guarded(const std::string& path);

/// stat(2). A symbolic link below a guarded tree is ELOOP.
int stat_guarded(const std::string& path, struct stat& info);

/// A path as a directory descriptor and a name in that directory, for calls of the kind of unlinkat(2): below a guarded
/// tree the path's parent, opened without following links, and the last component; elsewhere AT_FDCWD and the path.
class PathEntry {
 public:
  explicit PathEntry(const std::string& path);
  ~PathEntry();
  PathEntry(const PathEntry&) = delete;
  PathEntry& operator=(const PathEntry&) = delete;

  int error() const { return error_; }  ///< errno of opening the parent; 0 if that succeeded
  int directory() const { return directory_; }
  const char* name() const { return name_.c_str(); }
  bool is_guarded() const { return is_guarded_; }

 private:
  int directory_;
  int error_ = 0;
  bool is_guarded_ = false;
  std::string name_;
};

/// Calls `call(directory, name)` for the entry, again while a signal interrupts it. -1 with errno as the call, or as the
/// opening of the parent.
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

/// The same for `call(directory, name, directory, name)` of two entries, such as renameat(2).
template <class Call>
int at_entries(const std::string& from, const std::string& to, Call call) {
  return at_entry(from, [&](int from_directory, const char* from_name) {
    return at_entry(
        to, [&](int to_directory, const char* to_name) { return call(from_directory, from_name, to_directory, to_name); });
  });
}

/// The first symbolic link on `path` below a guarded tree, and that tree's root. Nothing if there is none. For messages.
struct LinkInTheWay {
  std::string link, root;
};
std::optional<LinkInTheWay> link_in_the_way(const std::string& path);

}  // namespace trainrt
