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
#include "io/objects/object_pages.hpp"

namespace trainrt::io {

namespace {

/// Maximum number of seconds to wait for h5_examiner if the storage does not answer. A file that makes HDF5 loop forever is
/// detected earlier, by its processor time.
constexpr double limit_s = 600;

/// The running process of the program h5_examiner, and the files that need not be examined again. Protected by h5_lock().
struct Examiner {
  std::unique_ptr<PipedProgram> program;
  int examinations = 0;         ///< number of existing H5Examination objects
  std::set<std::string> sound;  ///< identities (see identity_of()) of files that need not be examined again
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
  static bool is_logged = false;
  if (!std::exchange(is_logged, true))
    log::warning(fmt::format(
        "HDF5 files are opened without examining them first: {}. A damaged file may crash this process or make it loop",
        why));
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(fmt::format("cannot open '{}': {}. The file is damaged; copy or create it again", path, why));
}

/// Throws Error if `exit_code`, the exit code of h5_examiner for this file, means that the file is damaged. Otherwise,
/// logs a warning.
void judge(const std::string& path, int exit_code) {
  if (exit_code == h5_too_slow) refuse(path, "HDF5 does not finish reading its structure within 5 s of processor time");
  if (exit_code == h5_too_large)
    refuse(path,
           "HDF5 needs more memory than is allowed for reading the file's structure. The limit is the larger of 1 GiB and "
           "16 times the file size, but at most half of the available memory");
  if (exit_code > 128)
    refuse(path, fmt::format("HDF5 crashes while reading its structure ({})", strsignal(exit_code - 128)));
  warn_once(fmt::format("h5_examiner exited with {}", exit_code));
}

std::string bytes_of(const void* data, std::size_t count) { return {static_cast<const char*>(data), count}; }

/// Answers the H5BytesRequest at the beginning of `output`, the output of the program h5_examiner, and removes the
/// request from `output`. Does nothing if the request is incomplete.
void answer(PipedProgram& program, ObjectPages& object, std::string& output) {
  H5BytesRequest request;
  if (output.size() < sizeof request) return;
  std::memcpy(&request, output.data(), sizeof request);
  if (request.mark != H5BytesRequest().mark)
    throw Error("h5_examiner and trainrt are of different versions: build or install both again");
  output.erase(0, sizeof request);
  std::vector<std::byte> bytes(request.bytes);
  object.read(request.offset, bytes);
  program.send(bytes_of(bytes.data(), bytes.size()));
}

/// Sends the program h5_examiner the request to examine `path`, and waits for the result. Returns nullopt if the file has
/// been examined, or the program's exit code if the program exited instead.
std::optional<int> exit_code_of(PipedProgram& program, const std::string& path, ObjectPages* object) {
  const H5ExamineRequest request{path.size(), object != nullptr ? object->size() : 0};
  program.send(bytes_of(&request, sizeof request) + path);
  std::string output;
  for (const auto deadline = monotonic_seconds() + limit_s;;) {
    output += program.exchange(std::chrono::milliseconds(200), -1).output;
    if (output.starts_with('.')) return std::nullopt;
    if (object != nullptr) answer(program, *object, output);
    if (const auto code = program.exit_code()) return code;
    if (monotonic_seconds() > deadline)
      throw Error(fmt::format("cannot open '{}': its storage has not answered for {} s", path, limit_s));
  }
}

/// Starts the program h5_examiner if it is not running. If it cannot be started, logs a warning and returns false.
bool is_running() {
  auto& program = examiner().program;
  if (program) return true;
  const auto executable = examiner_path();
  if (executable.empty())
    warn_once("the program h5_examiner was not found in the folders of trainrt's modules");
  else
    try {
      program =
          std::make_unique<PipedProgram>("exec " + shell_quoted(executable), without_launcher(inherited_environment()));
    } catch (const Error& error) {
      warn_once(error.what());
    }
  return program != nullptr;
}

/// Lets the program h5_examiner examine a file or object. Throws Error if the file is damaged. Returns if it is sound or
/// could not be examined.
void examine(const std::string& path) {
  const auto object = storage_url(path) ? std::make_unique<ObjectPages>(path) : nullptr;
  if (object && object->size() == 0) return;  // opening the empty object reports that it is not an HDF5 file
  if (!is_running()) return;
  auto& program = examiner().program;
  std::optional<int> code;
  try {
    code = exit_code_of(*program, path, object.get());
  } catch (...) {
    program.reset();  // the program may still be examining the file
    throw;
  }
  if (!code) return;
  program.reset();
  judge(path, *code);
}

/// Returns a string that identifies a version of a file (device, inode, size, modification time) or an object (URL).
/// Returns "" if `path` is not a regular file; opening the path then reports the reason.
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
