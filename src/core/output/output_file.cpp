#include "core/output/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"

namespace trainrt {

namespace {

bool ends_within_a_line(int fd) {
  const auto size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

OutputFile::~OutputFile() { close_file(); }

void OutputFile::close_file() {
  if (const int fd = fd_.exchange(-1); fd >= 0) close(fd);
}

void OutputFile::switch_to(std::string path, const std::string& title) {
  close_file();
  path_ = std::move(path);
  tried_ = is_held_ = false;
  missing_ = 0;
  begin(title);
  if (!held_.empty()) add(std::exchange(held_, {}));
}

bool OutputFile::is_open() {
  if (!std::exchange(tried_, true) && !path_.empty()) {
    fd_ = open_guarded(path_, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW);
    if (fd_ < 0)
      warn(errno);
    else
      start_ = lseek(fd_, 0, SEEK_END);
  }
  return fd_ >= 0;
}

void OutputFile::begin(const std::string& title) {
  if (is_held_ || !is_open()) return;
  title_ = title;
  if (put_gap()) put_title();
}

/// Writes the title line of the log file. If that fails, the title is kept and written before the next output; it does not
/// count as missing output.
void OutputFile::put_title() {
  if (put(fmt::format("{}==== {} {} ====\n", ends_within_a_line(fd_) ? "\n" : "", utc_now(), title_)) > 0) return;
  title_.clear();
  start_ = lseek(fd_, 0, SEEK_END);
}

void OutputFile::add(std::string_view bytes) {
  if (is_held_) {
    held_ += bytes;
    return;
  }
  if (!is_open()) return;
  if (!title_.empty()) put_title();
  if (put_gap())
    missing_ = put(bytes);
  else
    missing_ += bytes.size();
}

/// If output was lost, writes a line that states how many bytes are missing. Returns false if the line cannot be written.
bool OutputFile::put_gap() {
  if (missing_ > 0 && put(fmt::format("\n==== {} bytes are missing here ====\n", missing_)) > 0) return false;
  missing_ = 0;
  return true;
}

std::size_t OutputFile::copy_end(std::span<char> room) const {
  const int fd = fd_;
  if (fd < 0) return 0;
  const auto size = lseek(fd, 0, SEEK_END);  // seeking is harmless: with O_APPEND, writes ignore the file offset
  const auto from = std::max<off_t>(start_, size - static_cast<off_t>(room.size()));
  const auto length = pread(fd, room.data(), room.size(), from);
  return length < 0 ? 0 : static_cast<std::size_t>(length);
}

/// Writes `bytes` to the log file. Returns the number of bytes that could not be written.
std::uint64_t OutputFile::put(std::string_view bytes) {
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

void OutputFile::warn(int error) {
  if (std::exchange(warned_, true)) return;
  log::warning(fmt::format("the output of this rank cannot be written to {}: {}. The run continues without it", path_,
                           reason_with_shortage(path_, error)));
}

}  // namespace trainrt
