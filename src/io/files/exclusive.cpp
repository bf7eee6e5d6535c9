#include "io/files/exclusive.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::io {

namespace {

struct stat status_of(const std::string& path) {
  struct stat status {};
  const auto read = [&](int directory, const char* name) { return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW); };
  if (at_entry(path, read) != 0) fail("look at", path, errno);
  return status;
}

double seconds(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

}  // namespace

bool create_exclusive(const std::string& path, const std::string& content) {
  const auto temporary = temporary_beside(path);
  unlink_guarded(temporary);  // of a killed process that had this number
  write_file(temporary, content);
  const int linked = link_guarded(temporary, path);
  const int error = errno;
  // A lost answer of NFS may report an error for a link that was made: the link count tells.
  const bool made = linked == 0 || status_of(temporary).st_nlink == 2;
  unlink_guarded(temporary);
  if (!made && error != EEXIST) fail("make", path, error);
  if (made) sync_directory(std::filesystem::path(path).parent_path().string());
  return made;
}

double age_seconds(const std::string& path) {
  const auto probe = temporary_beside(path);
  unlink_guarded(probe);
  write_file(probe, "");
  const auto now = status_of(probe).st_mtim;
  unlink_guarded(probe);
  return seconds(now) - seconds(status_of(path).st_mtim);
}

void touch(const std::string& path) {
  at_entry(path, [](int directory, const char* name) { return utimensat(directory, name, nullptr, AT_SYMLINK_NOFOLLOW); });
}

}  // namespace trainrt::io
