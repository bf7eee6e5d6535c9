#include "io/exclusive.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.hpp"
#include "io/temporary.hpp"

namespace trainrt::io {

namespace {

struct stat status_of(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) fail("look at", path, errno);
  return status;
}

double seconds(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

}  // namespace

bool create_exclusive(const std::string& path, const std::string& content) {
  const auto temporary = temporary_beside(path);
  unlink(temporary.c_str());  // of a killed process that had this number
  write_file(temporary, content);
  const int linked = link(temporary.c_str(), path.c_str());
  const int error = errno;
  // A lost answer of NFS may report an error for a link that was made: the link count tells.
  const bool made = linked == 0 || status_of(temporary).st_nlink == 2;
  unlink(temporary.c_str());
  if (!made && error != EEXIST) fail("make", path, error);
  if (made) sync_directory(std::filesystem::path(path).parent_path().string());
  return made;
}

double age_seconds(const std::string& path) {
  const auto probe = temporary_beside(path);
  unlink(probe.c_str());
  write_file(probe, "");
  const auto now = status_of(probe).st_mtim;
  unlink(probe.c_str());
  return seconds(now) - seconds(status_of(path).st_mtim);
}

void touch(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

}  // namespace trainrt::io
