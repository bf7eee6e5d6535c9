#include "io/files/exclusive.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::io {

namespace {

struct stat status_of_entry(const std::string& path) {
  struct stat status {};
  if (link_status(path, status) != 0) fail("read the status of", path, errno);
  return status;
}

double seconds(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

}  // namespace

bool create_exclusive(const std::string& path, const std::string& content) {
  const auto temporary = temporary_beside(path);
  unlink_guarded(temporary);  // a killed process with the same process id may have left this temporary file
  write_file(temporary, content);
  const int linked = link_guarded(temporary, path);
  const int error = errno;
  // If NFS loses the reply to a link(2) that succeeded, the call returns an error, but the link count of `temporary` is
  // 2.
  const bool made = linked == 0 || status_of_entry(temporary).st_nlink == 2;
  unlink_guarded(temporary);
  if (!made && error != EEXIST) fail("create", path, error);
  if (made) sync_directory(std::filesystem::path(path).parent_path().string());
  return made;
}

double age_seconds(const std::string& path) {
  const auto probe = temporary_beside(path);
  unlink_guarded(probe);
  write_file(probe, "");
  const auto now = status_of_entry(probe).st_mtim;
  unlink_guarded(probe);
  return seconds(now) - seconds(status_of_entry(path).st_mtim);
}

void touch(const std::string& path) {
  at_entry(path, [](int directory, const char* name) { return utimensat(directory, name, nullptr, AT_SYMLINK_NOFOLLOW); });
}

}  // namespace trainrt::io
