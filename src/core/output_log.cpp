#include "core/output_log.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/log.hpp"

namespace trainrt {

namespace {

bool ends_within_a_line(int fd) {
  const auto size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

OutputLog::OutputLog(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd_ < 0) warn(errno);
}

OutputLog::~OutputLog() {
  if (fd_ >= 0) close(fd_);
}

void OutputLog::begin(const std::string& title) {
  if (fd_ < 0) return;
  add(fmt::format("{}==== {} {} ====\n", ends_within_a_line(fd_) ? "\n" : "", utc_now(), title));
}

void OutputLog::add(std::string_view bytes) {
  if (fd_ < 0) return;
  if (missing_ > 0 && put(fmt::format("\n==== {} bytes are missing here ====\n", missing_)) > 0) {
    missing_ += bytes.size();
    return;
  }
  missing_ = put(bytes);
}

/// Returns how many bytes could not be written.
std::uint64_t OutputLog::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      warn(errno);
      break;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return bytes.size();
}

void OutputLog::warn(int error) {
  if (std::exchange(warned_, true)) return;
  log::warning(fmt::format("the output of this rank cannot be written to {}: {}; the training goes on without", path_,
                           std::strerror(error)));
}

}  // namespace trainrt
