#include <algorithm>

#include "data/bytes/ring.hpp"

namespace trainrt::data::plugins {

namespace {

class RingReader final : public FileReader {
 public:
  RingReader(int fd, const DataFile& file) : fd_(fd), file_(file) {}
  std::size_t max_in_flight() const override { return ring_parts; }
  /// If io_uring returns too few bytes of a part, read_part() reads the others, or throws the error.
  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1) return read_part(fd_, file_, parts[0]);
    while (!parts.empty()) {
      const auto some = parts.first(std::min(ring_parts, parts.size()));
      const auto results = read_by_ring(fd_, some);
      for (std::size_t i = 0; i < some.size(); ++i)
        read_part(fd_, file_, some[i], static_cast<std::size_t>(std::max(results[i], 0)));
      parts = parts.subspan(some.size());
    }
  }

 private:
  int fd_;
  const DataFile& file_;
};

}  // namespace

extern const ReadMethod uring{
    .name = "uring",
    .help = "reads all parts of a batch at the same time by io_uring; for shuffled samples on fast storage",
    .require = require_ring,
    .open = [](int fd, const DataFile& file) -> std::unique_ptr<FileReader> {
      return std::make_unique<RingReader>(fd, file);
    }};

}  // namespace trainrt::data::plugins
