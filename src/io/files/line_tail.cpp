#include "io/files/line_tail.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"

namespace trainrt::io {

namespace {

std::string bytes_of(int fd, std::uint64_t at, std::uint64_t count, const std::string& path) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(at + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

LineTail::News LineTail::read() {
  const Descriptor file(open_guarded(path_, O_RDONLY | O_NONBLOCK));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return {};
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) fail("read", path_, errno);
  if (!S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  News news{.is_new_file = status.st_dev != device_ || status.st_ino != inode_ || size < at_, .lines = {}};
  bool in_a_line = false;
  if (news.is_new_file) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
    at_ = size - std::min(size, most_bytes_);
    in_a_line = at_ > 0;
  }
  const auto bytes = bytes_of(file.get(), at_, size - at_, path_);
  std::size_t begin = 0;
  for (std::size_t end; (end = bytes.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (!std::exchange(in_a_line, false)) news.lines.push_back(bytes.substr(begin, end - begin));
  if (!in_a_line) at_ += begin;
  return news;
}

}  // namespace trainrt::io
