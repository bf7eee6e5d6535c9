#include "io/hdf5/untrusted/h5_guard.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/module_folders.hpp"
#include "core/output/log.hpp"
#include "core/process/child_environment.hpp"
#include "core/process/piped_program.hpp"
#include "core/text/text.hpp"
#include "io/hdf5/h5.hpp"
#include "io/objects/object_pages.hpp"

namespace trainrt::io {

namespace {

constexpr double limit_s = 600;  // of a storage that does not answer; a file that makes HDF5 loop ends much earlier

/// Under h5_lock().
struct Examiner {
  std::unique_ptr<PipedProgram> program;
  int examinations = 0;
  std::set<std::string> sound;  ///< identities of files
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
  if (exit_code == h5_too_slow) refuse(path, "HDF5 does not finish reading its structure (5 s of processor time)");
  if (exit_code == h5_too_large)
    refuse(
        path,
        "HDF5 takes more memory for its structure than the larger of 1 GiB and 16 times the file, or half of what is left");
  if (exit_code > 128)
    refuse(path, fmt::format("HDF5 crashes when it reads its structure ({})", strsignal(exit_code - 128)));
  warn_once(fmt::format("h5_examiner exited with {}", exit_code));
}

std::string bytes_of(const void* what, std::size_t count) { return {static_cast<const char*>(what), count}; }

/// Sends the bytes of the object that the program asks for, once `heard` holds all of its question.
void answer(PipedProgram& program, ObjectPages& object, std::string& heard) {
  H5Wanted wanted;
  if (heard.size() < sizeof wanted) return;
  std::memcpy(&wanted, heard.data(), sizeof wanted);
  if (wanted.mark != H5Wanted().mark) throw Error("h5_examiner says what trainrt does not know: build both again");
  heard.erase(0, sizeof wanted);
  std::vector<std::byte> bytes(wanted.bytes);
  object.read(wanted.offset, bytes);
  program.send(bytes_of(bytes.data(), bytes.size()));
}

/// Returns once the program has examined the file; else how it ended.
std::optional<int> ending(PipedProgram& program, const std::string& path, ObjectPages* object) {
  const H5Examined file{path.size(), object != nullptr ? object->size() : 0};
  program.send(bytes_of(&file, sizeof file) + path);
  std::string heard;
  for (const auto deadline = monotonic_seconds() + limit_s;;) {
    heard += program.exchange(std::chrono::milliseconds(200), -1).output;
    if (heard.starts_with('.')) return std::nullopt;
    if (object != nullptr) answer(program, *object, heard);
    if (const auto code = program.exit_code()) return code;
    if (monotonic_seconds() > deadline)
      throw Error(fmt::format("'{}' cannot be opened: its storage does not answer for {} s", path, limit_s));
  }
}

/// Starts the program if it does not run. False if it cannot be had, which a warning says.
bool is_running() {
  auto& program = examiner().program;
  if (program) return true;
  const auto executable = examiner_path();
  if (executable.empty())
    warn_once("the program h5_examiner is not in a folder of trainrt's modules");
  else
    try {
      program = std::make_unique<PipedProgram>("exec " + quoted(executable), without_launcher(inherited_environment()));
    } catch (const Error& error) {
      warn_once(error.what());
    }
  return program != nullptr;
}

/// Returns if the file is sound, or could not be examined.
void examine(const std::string& path) {
  const auto object = storage_url(path) ? std::make_unique<ObjectPages>(path) : nullptr;
  if (object && object->size() == 0) return;  // opening it says that it is no file of HDF5
  if (!is_running()) return;
  auto& program = examiner().program;
  std::optional<int> code;
  try {
    code = ending(*program, path, object.get());
  } catch (...) {
    program.reset();  // it may be in the middle of the file
    throw;
  }
  if (!code) return;
  program.reset();
  judge(path, *code);
}

/// Identifies a file and its state by device, inode, size and time, or an object by its URL; "" if `path` is no regular
/// file: then opening it reports why.
std::string identity_of(const std::string& path) {
  if (storage_url(path)) return path;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return fmt::format("{} {} {} {}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

void h5_require_sound(const std::string& path) {
  const auto identity = identity_of(path);
  auto& own = examiner();
  if (identity.empty() || own.sound.contains(identity)) return;
  examine(path);
  own.sound.insert(identity);
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
