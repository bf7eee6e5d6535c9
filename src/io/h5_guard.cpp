#include "io/h5_guard.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/child_environment.hpp"
#include "core/host.hpp"
#include "core/line_program.hpp"
#include "core/log.hpp"
#include "core/module_folders.hpp"
#include "core/text.hpp"
#include "io/h5.hpp"
#include "io/storage.hpp"

namespace trainrt::io {

namespace {

constexpr double limit_s = 600;  // of a storage that does not answer; a file that makes HDF5 loop ends much earlier

/// Under h5_lock().
struct Examiner {
  std::unique_ptr<LineProgram> program;
  int examinations = 0;
  std::set<std::tuple<dev_t, ino_t, off_t, std::int64_t>> sound;  ///< files: device, inode, size, time of last change
};

Examiner& examiner() {
  static Examiner one;
  return one;
}

std::string examiner_path() {
  for (const auto& folder : module_folders())
    if (const auto path = folder / "h5_examiner"; access(path.c_str(), X_OK) == 0) return path.string();
  return {};
}

void warn_once(const std::string& why) {
  static bool is_said = false;
  if (!std::exchange(is_said, true))
    log::warning(
        fmt::format("HDF5 files are opened without examining them first, and a damaged one may crash this process or "
                    "make it loop: {}",
                    why));
}

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(
      fmt::format("'{}' cannot be opened: {}. The file is damaged; copy it here again, or create it again", path, why));
}

void judge(const std::string& path, int exit_code) {
  if (exit_code == h5_too_slow) refuse(path, "HDF5 does not finish reading its structure (10 s of processor time)");
  if (exit_code == h5_too_large)
    refuse(path, "HDF5 takes more memory for its structure than the larger of 1 GiB and 16 times the file");
  if (exit_code > 128)
    refuse(path, fmt::format("HDF5 crashes when it reads its structure ({})", strsignal(exit_code - 128)));
  warn_once(fmt::format("h5_examiner exited with {}", exit_code));
}

/// Returns if the file is sound, or could not be examined.
void examine(const std::string& path) {
  auto& program = examiner().program;
  if (!program) {
    const auto executable = examiner_path();
    if (executable.empty()) return warn_once("the program h5_examiner is not in a folder of trainrt's modules");
    program = std::make_unique<LineProgram>("exec " + quoted(executable), without_launcher(inherited_environment()));
  }
  program->send(path + '\0');
  for (const auto deadline = monotonic_seconds() + limit_s;;) {
    if (!program->exchange(std::chrono::milliseconds(200), -1).output.empty()) return;
    const auto code = program->exit_code();
    if (!code && monotonic_seconds() < deadline) continue;
    program.reset();
    if (!code) throw Error(fmt::format("'{}' cannot be opened: its storage does not answer for {} s", path, limit_s));
    return judge(path, *code);
  }
}

}  // namespace

void h5_require_sound(const std::string& path) {
  struct stat info {};
  if (storage_url(path) || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;  // opening it says why
  const std::tuple key(info.st_dev, info.st_ino, info.st_size,
                       std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec);
  auto& own = examiner();
  if (own.sound.contains(key)) return;
  examine(path);
  own.sound.insert(key);
  if (own.examinations == 0) own.program.reset();
}

H5Examination::H5Examination() {
  const auto lock = h5_lock();
  ++examiner().examinations;
}

H5Examination::~H5Examination() {
  const auto lock = h5_lock();
  if (--examiner().examinations == 0) examiner().program.reset();
}

}  // namespace trainrt::io
