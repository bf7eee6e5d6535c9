#include <algorithm>

#include "data/bytes/ring.hpp"

namespace trainrt::data {

namespace {

class RingReader final : public FileReader {
 public:
  RingReader(int fd, const DataFile& file) : fd_(fd), file_(file), plain_(plain_reader(fd, file)) {}
  std::size_t max_in_flight() const override { return ring_parts; }
  /// What did not come, or not all of it, is read by pread, which says what is wrong.
  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1) return plain_->read(parts);
    for (; !parts.empty(); parts = parts.subspan(std::min(ring_parts, parts.size()))) {
      const auto lot = parts.first(std::min(ring_parts, parts.size()));
      const auto came = read_by_ring(fd_, lot);
      for (std::size_t i = 0; i < lot.size(); ++i)
        read_part(fd_, file_, lot[i], static_cast<std::size_t>(std::max(came[i], 0)));
    }
  }

 private:
  int fd_;
  const DataFile& file_;
  std::unique_ptr<FileReader> plain_;
};

}  // namespace

namespace plugins {

extern const ReadMethod uring{.name = "uring",
                           .help = "the pieces of a batch all at once, by io_uring: for shuffled samples on fast storage",
                           .require = require_ring,
                           .open = [](int fd, const DataFile& file) -> std::unique_ptr<FileReader> {
                             return std::make_unique<RingReader>(fd, file);
                           }};

}  // namespace plugins

}  // namespace trainrt::data
