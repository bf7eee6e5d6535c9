#include "core/files/guarded_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "core/files/beneath.hpp"

namespace trainrt {

namespace {

struct Roots {
  std::shared_mutex mutex;
  // The root directory of each GuardedTree, without a slash at the end, and the name of its folder `users`.
  std::multiset<std::pair<std::string, std::string>> all;
};

Roots& roots() {
  static auto* const kept = new Roots;  // never destroyed, since other threads may use it while the process exits
  return *kept;
}

bool has_parent_component(const std::string& path) {
  return path.ends_with("/..") || path.find("/../") != std::string::npos;
}

bool is_below(std::string_view path, std::string_view root) {
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

bool is_guarded_by(const std::string& root, const std::string& users, const std::string& path) {
  if (!is_below(path, root) || has_parent_component(path.substr(root.size()))) return false;
  const auto folder = root + "/" + users;
  return users.empty() || !(path == folder || is_below(path, folder));
}

/// Returns the root of the innermost GuardedTree that guards `path`; nullopt if no tree guards it. The root "" means "/".
std::optional<std::string> root_above(const std::string& path) {
  const std::shared_lock lock(roots().mutex);
  std::optional<std::string> found;
  for (const auto& [root, users] : roots().all)
    if (is_guarded_by(root, users, path) && (!found || found->size() < root.size())) found = root;
  return found;
}

template <class Call>
int without_interruptions(Call call) {
  int result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

int open_root(const std::string& root) {
  return without_interruptions([&] { return ::open((root + "/").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
}

int open_below(const std::string& root, std::string_view relative, int flags, mode_t mode) {
  const int base = open_root(root);
  if (base < 0) return -1;
  const int opened = without_interruptions([&] { return open_beneath(base, relative, flags, mode); });
  close_keeping_errno(base);
  return opened;
}

}  // namespace

GuardedTree::GuardedTree(std::string root, std::string users) : root_(std::move(root)), users_(std::move(users)) {
  while (root_.ends_with('/')) root_.pop_back();
  const std::unique_lock lock(roots().mutex);
  roots().all.emplace(root_, users_);
}

GuardedTree::~GuardedTree() {
  const std::unique_lock lock(roots().mutex);
  roots().all.erase(roots().all.find({root_, users_}));
}

int open_guarded(const std::string& path, int flags, mode_t mode) {
  flags |= O_CLOEXEC;
  if (const auto root = root_above(path))
    return open_below(*root, std::string_view(path).substr(root->size()), flags, mode);
  return without_interruptions([&] { return ::open(path.c_str(), flags, mode); });
}

int unlink_guarded(const std::string& path) {
  return at_entry(path, [](int directory, const char* name) { return ::unlinkat(directory, name, 0); });
}

int remove_directory_guarded(const std::string& path) {
  return at_entry(path, [](int directory, const char* name) { return ::unlinkat(directory, name, AT_REMOVEDIR); });
}

int stat_guarded(const std::string& path, struct stat& info) {
  const PathEntry entry(path);
  const int flags = entry.is_guarded() ? AT_SYMLINK_NOFOLLOW : 0;
  if (entry.error() != 0) errno = entry.error();
  if (entry.error() != 0 || ::fstatat(entry.directory(), entry.name(), &info, flags) != 0) return -1;
  if (!entry.is_guarded() || !S_ISLNK(info.st_mode)) return 0;
  errno = ELOOP;
  return -1;
}

int rename_guarded(const std::string& from, const std::string& to) { return at_entries(from, to, ::renameat); }

int link_guarded(const std::string& from, const std::string& to) {
  return at_entries(from, to, [](int from_directory, const char* old, int to_directory, const char* name) {
    return ::linkat(from_directory, old, to_directory, name, 0);
  });
}

PathEntry::PathEntry(const std::string& path) : directory_(AT_FDCWD), name_(path) {
  const auto root = root_above(path);
  if (!root) return;
  is_guarded_ = true;
  while (name_.ends_with('/')) name_.pop_back();
  const auto slash = name_.rfind('/');
  const auto parent = name_.substr(0, slash);
  name_.erase(0, slash + 1);
  directory_ = parent.size() <= root->size()
                   ? open_root(*root)
                   : open_below(*root, std::string_view(parent).substr(root->size()), O_PATH | O_DIRECTORY, 0);
  if (directory_ < 0) error_ = errno;
}

PathEntry::~PathEntry() {
  if (directory_ >= 0) close_keeping_errno(directory_);
}

std::optional<LinkInTheWay> link_in_the_way(const std::string& path) {
  const auto root = root_above(path);
  if (!root) return std::nullopt;
  for (auto end = root->size(); end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const auto part = path.substr(0, end);
    struct stat info {};
    if (::lstat(part.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) return LinkInTheWay{part, *root};
  }
  return std::nullopt;
}

}  // namespace trainrt
