#include "core/files/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt {

namespace {

std::atomic<int> without_openat2 = 0;

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    if (end > 0 && path.substr(0, end) != ".") components.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (components.empty()) components.emplace_back(".");
  return components;
}

std::string joined(const std::vector<std::string>& components) {
  std::string path;
  for (const auto& component : components) path += (path.empty() ? "" : "/") + component;
  return path;
}

int by_the_kernel(int base, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags & ~O_NOFOLLOW);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, base, path.c_str(), &how, sizeof(how)));
}

/// Calls openat(2) without following a symbolic link. Fails with ELOOP, as openat2(2) does, if `name` should be a directory
/// and is a symbolic link.
int open_here(int directory, const std::string& name, int flags, mode_t mode) {
  const int opened = ::openat(directory, name.c_str(), flags | O_NOFOLLOW, mode);
  if (opened >= 0 || errno != ENOTDIR) return opened;
  struct stat info {};
  const bool is_link = ::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
  errno = is_link ? ELOOP : ENOTDIR;
  return -1;
}

int by_components(int base, const std::vector<std::string>& components, int flags, mode_t mode) {
  int directory = base;
  for (std::size_t at = 0; at < components.size(); ++at) {
    const bool is_last = at + 1 == components.size();
    const int opened = open_here(directory, components[at], is_last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC, mode);
    if (directory != base) close_keeping_errno(directory);
    if (is_last || opened < 0) return opened;
    directory = opened;
  }
  return -1;
}

/// Returns whether open_beneath() must do without openat2(2), which failed with `error`: ENOSYS if the kernel does not have
/// the system call, EPERM in old container runtimes, or EAGAIN.
bool is_unavailable(int error) { return error == ENOSYS || error == EPERM || error == EAGAIN; }

}  // namespace

int open_beneath(int base, std::string_view relative, int flags, mode_t mode) {
  const auto components = components_of(relative);
  if (std::ranges::find(components, "..") != components.end()) {
    errno = EXDEV;
    return -1;
  }
  flags |= O_CLOEXEC;
  if (without_openat2 == 0) {
    const int opened = by_the_kernel(base, joined(components), flags, mode);
    if (opened >= 0 || !is_unavailable(errno)) return opened;
  }
  return by_components(base, components, flags, mode);
}

void close_keeping_errno(int file) {
  const int before = errno;
  ::close(file);
  errno = before;
}

WithoutOpenat2::WithoutOpenat2() { ++without_openat2; }
WithoutOpenat2::~WithoutOpenat2() { --without_openat2; }

}  // namespace trainrt
