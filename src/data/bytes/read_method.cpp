#include "data/bytes/read_method.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/descriptor.hpp"

namespace trainrt::data {

namespace {

class PreadReader final : public FileReader {
 public:
  PreadReader(int fd, const DataFile& file) : fd_(fd), file_(file) {}
  void read(std::span<const FilePart> parts) const override {
    for (const auto& part : parts) read_part(fd_, file_, part);
  }

 private:
  int fd_;
  const DataFile& file_;
};

}  // namespace

std::unique_ptr<FileReader> pread_reader(int fd, const DataFile& file) { return std::make_unique<PreadReader>(fd, file); }

void read_part(int fd, const DataFile& file, const FilePart& part, std::size_t done) {
  const auto rest = part.into.subspan(done);
  if (io::read_at(fd, part.offset + done, rest, file.path) == rest.size()) return;
  require_listed_size(fd, file);
  throw Error(
      fmt::format("'{}' ends at byte {}, before the end of the part to read ({} bytes from byte {}): "
                  "it is truncated, or its header is wrong",
                  file.path, file.size, part.into.size(), part.offset));
}

void require_listed_size(int fd, const DataFile& file) {
  const auto size = static_cast<std::uint64_t>(io::status_of(fd, file.path).st_size);
  if (size != file.size)
    throw Error(
        fmt::format("'{}' was changed after it was listed: "
                    "it had {} bytes and now has {}; restore the file, or start again",
                    file.path, file.size, size));
}

}  // namespace trainrt::data
