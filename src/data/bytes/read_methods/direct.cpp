#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "data/bytes/ring.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

namespace {

/// What offsets and lengths of direct reads are multiples of: the file system's word for it (since Linux 6.1), or a page.
std::uint64_t direct_unit([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) != 0 &&
      info.stx_dio_offset_align > 0 && io::io_alignment % info.stx_dio_offset_align == 0)
    return info.stx_dio_offset_align;
#endif
  return io::io_alignment;
}

/// The memory that a thread reads a lot of parts into, each with the whole units that it lies in.
std::span<std::byte> scratch_of_thread(std::size_t bytes) {
  thread_local io::AlignedMemory memory;
  if (memory.bytes().size() < bytes) memory = io::AlignedMemory(bytes);
  return memory.bytes();
}

class DirectReader final : public FileReader {
 public:
  DirectReader(io::Descriptor direct, int fd, const DataFile& file)
      : direct_(std::move(direct)), unit_(direct_unit(direct_.get())), fd_(fd), file_(file) {}
  std::size_t max_in_flight() const override { return ring_parts; }
  void read(std::span<const FilePart> parts) const override {
    while (!parts.empty()) {
      const auto lot = parts.first(count_of_lot(parts));
      read_lot(lot);
      parts = parts.subspan(lot.size());
    }
  }

 private:
  static constexpr std::size_t most_bytes = 4 << 20;  ///< of a lot; a part that is larger is one of its own

  std::uint64_t begin(const FilePart& part) const { return part.offset / unit_ * unit_; }
  std::size_t lead(const FilePart& part) const { return static_cast<std::size_t>(part.offset - begin(part)); }
  std::size_t bytes_around(const FilePart& part) const {
    return (lead(part) + part.into.size() + unit_ - 1) / unit_ * unit_;
  }

  /// At least one.
  std::size_t count_of_lot(std::span<const FilePart> parts) const {
    std::size_t count = 0, bytes = 0;
    for (; count < std::min(parts.size(), ring_parts); ++count) {
      bytes += io::align_up(bytes_around(parts[count]));
      if (bytes > most_bytes) break;
    }
    return std::max<std::size_t>(count, 1);
  }

  /// What did not come, or not all of it, is read by pread, which says what is wrong.
  void read_lot(std::span<const FilePart> lot) const {
    if (bytes_around(lot[0]) > most_bytes) return read_part(fd_, file_, lot[0]);
    auto scratch = scratch_of_thread(most_bytes);
    std::array<FilePart, ring_parts> around;
    for (std::size_t i = 0; i < lot.size(); ++i) {
      around[i] = {begin(lot[i]), scratch.first(bytes_around(lot[i]))};
      scratch = scratch.subspan(io::align_up(around[i].into.size()));
    }
    const auto came = read_by_ring(direct_.get(), std::span(around).first(lot.size()));
    for (std::size_t i = 0; i < lot.size(); ++i) take(lot[i], around[i].into, came[i]);
  }

  void take(const FilePart& part, std::span<const std::byte> around, std::int32_t came) const {
    const auto whole = lead(part) + part.into.size();
    const auto there = std::min(whole, static_cast<std::size_t>(std::max(came, 0)));
    const auto done = there - std::min(there, lead(part));
    if (done > 0) std::memcpy(part.into.data(), around.data() + lead(part), done);
    read_part(fd_, file_, part, done);
  }

  io::Descriptor direct_;
  std::uint64_t unit_;
  int fd_;
  const DataFile& file_;
};

/// A file system without direct reads has its page cache.
std::unique_ptr<FileReader> direct_reader(int fd, const DataFile& file) {
  io::Descriptor direct(open_guarded(file.path, O_RDONLY | O_DIRECT));
  if (direct.get() >= 0) return std::make_unique<DirectReader>(std::move(direct), fd, file);
  if (errno == EINVAL || errno == EOPNOTSUPP) return plain_reader(fd, file);
  io::fail("open", file.path, errno);
}

}  // namespace

namespace plugins {

extern const ReadMethod direct{
    .name = "direct",
    .help = "as uring, but past the page cache: for shuffled samples of files much larger than memory",
    .require = require_ring,
    .open = direct_reader};

}  // namespace plugins

}  // namespace trainrt::data
