#include "program/staging/stage_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt::program::stage {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view lock_suffix = ".lock";
constexpr std::string_view identity_suffix = ".id";
constexpr std::string_view part_mark = ".part-";

/// Returns the path of the private folder in `base`, and creates the folder if necessary. Throws Error if the folder
/// has another owner or mode, since another user may have created it in /tmp.
std::string private_folder(const std::string& base) {
  auto path = fmt::format("{}/trainrt-stage-{}", base, geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 0077) != 0)
    throw Error(fmt::format("{} exists, but is not a folder of this user with mode 0700", path));
  return path;
}

/// Locks a file, and returns an empty Descriptor if another process has locked it. If the previous owner of the lock
/// unlinked the file between open() and flock(), the function tries again.
Descriptor locked(const std::string& path) {
  for (;;) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) throw Error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
    struct stat mine {
    }, there{};
    if (fstat(file.get(), &mine) == 0 && stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino) return file;
  }
}

Descriptor locked_within(double patience_s, const std::string& path) {
  constexpr double pause_s = 0.05;
  for (double waited_s = 0;; waited_s += pause_s) {
    if (auto lock = locked(path)) return lock;
    if (waited_s >= patience_s)
      throw Error(fmt::format("{} is locked by another process of this user, which has not exited within {:g} s", path,
                              patience_s));
    usleep(static_cast<useconds_t>(pause_s * 1e6));
  }
}

void remove_tree(const fs::path& root, const std::string& name) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root, none)) {
    const auto found = entry.path().filename().string();
    if (found == name || found.starts_with(name + std::string(part_mark))) fs::remove_all(entry.path(), none);
  }
  fs::remove(root / (name + std::string(identity_suffix)), none);
}

}  // namespace

StageFolder::StageFolder(const std::string& base, const std::string& name, double patience_s)
    : root_(private_folder(base)),
      path_(root_ + "/" + name),
      lock_(locked_within(patience_s, path_ + std::string(lock_suffix))) {}

std::string StageFolder::identity() const {
  struct stat found {};
  if (lstat(path_.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return {};
  std::string text;
  std::getline(std::ifstream(path_ + std::string(identity_suffix)), text);
  return text;
}

std::string StageFolder::new_part() const {
  auto part = path_ + std::string(part_mark) + "XXXXXX";
  if (mkdtemp(part.data()) == nullptr) throw Error(fmt::format("cannot create {}: {}", part, std::strerror(errno)));
  return part;
}

void StageFolder::complete(const std::string& part, const std::string& identity) const {
  std::ofstream file(path_ + std::string(identity_suffix));
  file << identity << '\n';
  file.close();
  if (!file || rename(part.c_str(), path_.c_str()) != 0)
    throw Error(fmt::format("cannot create {} from {}: {}", path_, part, std::strerror(errno)));
}

void StageFolder::clear() const { remove_tree(root_, fs::path(path_).filename().string()); }

void StageFolder::remove() const {
  clear();
  unlink((path_ + std::string(lock_suffix)).c_str());
}

void StageFolder::remove_abandoned() const {
  std::error_code none;
  const auto mine = fs::path(path_).filename().string();
  for (const auto& entry : fs::directory_iterator(root_, none)) {
    const auto found = entry.path().filename().string();
    if (!found.ends_with(lock_suffix)) continue;
    const auto name = found.substr(0, found.size() - lock_suffix.size());
    if (name == mine) continue;
    const auto lock = locked(entry.path().string());
    if (!lock) continue;
    remove_tree(root_, name);
    unlink(entry.path().c_str());
  }
}

std::string local_storage(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  for (const char* name : {"SLURM_TMPDIR", "TMPDIR"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "/tmp";
}

}  // namespace trainrt::program::stage
