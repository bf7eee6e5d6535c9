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

namespace trainrt::data::plugins {

namespace {

/// Returns the alignment in bytes of direct reads (O_DIRECT): offsets and lengths must be multiples of this number. The
/// file system reports the number since Linux 6.1; otherwise returns a default that is valid for all file systems.
std::uint64_t direct_alignment([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx status {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0 &&
      status.stx_dio_offset_align > 0 && io::io_alignment % status.stx_dio_offset_align == 0)
    return status.stx_dio_offset_align;
#endif
  return io::io_alignment;
}

/// Returns the memory into which this thread reads aligned blocks.
std::span<std::byte> scratch_of_thread(std::size_t bytes) {
  thread_local io::AlignedMemory memory;
  if (memory.bytes().size() < bytes) memory = io::AlignedMemory(bytes);
  return memory.bytes();
}

class DirectReader final : public FileReader {
 public:
  DirectReader(io::Descriptor direct, int fd, const DataFile& file)
      : direct_(std::move(direct)), alignment_(direct_alignment(direct_.get())), fd_(fd), file_(file) {}
  std::size_t max_in_flight() const override { return ring_parts; }
  void read(std::span<const FilePart> parts) const override {
    while (!parts.empty()) {
      const auto group = parts.first(group_size(parts));
      read_group(group);
      parts = parts.subspan(group.size());
    }
  }

 private:
  static constexpr std::size_t max_group_bytes = 4 << 20;  ///< a larger part is a group of its own, read by pread(2)

  /// Returns the number of bytes between the last aligned offset at or before the part, and the beginning of the part.
  std::size_t lead(const FilePart& part) const { return static_cast<std::size_t>(part.offset % alignment_); }
  /// Returns the size of the aligned range of the file that contains the part.
  std::size_t aligned_bytes(const FilePart& part) const {
    return (lead(part) + part.into.size() + alignment_ - 1) / alignment_ * alignment_;
  }

  /// Returns how many of `parts`, from the first on, form a group that is read at once: as many as fit into
  /// `max_group_bytes`, but at least one.
  std::size_t group_size(std::span<const FilePart> parts) const {
    std::size_t count = 0, bytes = 0;
    for (; count < std::min(parts.size(), ring_parts); ++count) {
      bytes += io::align_up(aligned_bytes(parts[count]));
      if (bytes > max_group_bytes) break;
    }
    return std::max<std::size_t>(count, 1);
  }

  /// Reads the parts of a group at the same time. If a direct read returns too few bytes, read_part() reads the others, or
  /// throws the error.
  void read_group(std::span<const FilePart> group) const {
    if (aligned_bytes(group[0]) > max_group_bytes) return read_part(fd_, file_, group[0]);
    auto scratch = scratch_of_thread(max_group_bytes);
    std::array<FilePart, ring_parts> aligned;
    for (std::size_t i = 0; i < group.size(); ++i) {
      aligned[i] = {group[i].offset - lead(group[i]), scratch.first(aligned_bytes(group[i]))};
      scratch = scratch.subspan(io::align_up(aligned[i].into.size()));
    }
    const auto results = read_by_ring(direct_.get(), std::span(aligned).first(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto available = static_cast<std::size_t>(std::max(results[i], 0));
      const auto done = std::min(group[i].into.size(), available - std::min(available, lead(group[i])));
      if (done > 0) std::memcpy(group[i].into.data(), aligned[i].into.data() + lead(group[i]), done);
      read_part(fd_, file_, group[i], done);
    }
  }

  io::Descriptor direct_;
  std::uint64_t alignment_;
  int fd_;
  const DataFile& file_;
};

/// Returns a reader for the open file `fd`, which uses pread(2) if the file system does not support direct reads.
std::unique_ptr<FileReader> direct_reader(int fd, const DataFile& file) {
  io::Descriptor direct(open_guarded(file.path, O_RDONLY | O_DIRECT));
  if (direct.get() >= 0) return std::make_unique<DirectReader>(std::move(direct), fd, file);
  if (errno == EINVAL || errno == EOPNOTSUPP) return pread_reader(fd, file);
  io::fail("open", file.path, errno);
}

}  // namespace

extern const ReadMethod direct{
    .name = "direct",
    .help = "reads like uring, but bypasses the page cache; for shuffled samples of files much larger than memory",
    .require = require_ring,
    .open = direct_reader};

}  // namespace trainrt::data::plugins
