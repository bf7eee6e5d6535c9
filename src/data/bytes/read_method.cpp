#include "data/bytes/read_method.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

namespace {

class PlainReader final : public FileReader {
 public:
  PlainReader(int fd, const DataFile& file) : fd_(fd), file_(file) {}
  void read(std::span<const FilePart> parts) const override {
    for (const auto& part : parts) read_part(fd_, file_, part);
  }

 private:
  int fd_;
  const DataFile& file_;
};

}  // namespace

std::unique_ptr<FileReader> plain_reader(int fd, const DataFile& file) { return std::make_unique<PlainReader>(fd, file); }

void read_part(int fd, const DataFile& file, const FilePart& part, std::size_t done) {
  auto offset = part.offset + done;
  auto into = part.into.subspan(done);
  while (!into.empty()) {
    const auto count = io::uninterrupted(
        [&] { return ::pread(fd, into.data(), std::min(into.size(), io::bytes_per_call), static_cast<off_t>(offset)); });
    if (count < 0) io::fail(fmt::format("read at byte {} of", offset), file.path, errno);
    if (count == 0) {
      require_as_listed(fd, file);
      throw Error(
          fmt::format("'{}' ends at byte {}, and more of it was to be read: it is truncated, or its header is wrong",
                      file.path, offset));
    }
    offset += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

void require_as_listed(int fd, const DataFile& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) io::fail("look at", file.path, errno);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size != file.size)
    throw Error(fmt::format("'{}' was changed while it is used: it had {} bytes, and has {}", file.path, file.size, size));
}

}  // namespace trainrt::data
