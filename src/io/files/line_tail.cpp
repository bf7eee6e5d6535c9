#include "io/files/line_tail.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"

namespace trainrt::io {

LineTail::NewLines LineTail::read() {
  const Descriptor file(open_guarded(path_, O_RDONLY | O_NONBLOCK));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (file.get() < 0) fail("read", path_, errno);
  const auto status = status_of(file.get(), path_);
  if (!S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  NewLines news{.is_new_file = status.st_dev != device_ || status.st_ino != inode_ || size < at_, .lines = {}};
  bool is_inside_line = false;
  if (news.is_new_file) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
    at_ = size - std::min(size, max_bytes_);
    is_inside_line = at_ > 0;
  }
  std::string bytes(size - at_, '\0');
  bytes.resize(read_at(file.get(), at_, std::as_writable_bytes(std::span(bytes)), path_));
  std::size_t begin = 0;
  for (std::size_t end; (end = bytes.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (!std::exchange(is_inside_line, false)) news.lines.push_back(bytes.substr(begin, end - begin));
  if (!is_inside_line) at_ += begin;
  return news;
}

}  // namespace trainrt::io
