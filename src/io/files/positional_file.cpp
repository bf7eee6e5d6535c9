#include "io/files/positional_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <trainrt/error.hpp>

namespace trainrt::io {

/// The file descriptors of a PositionalFile: one for direct I/O and one for buffered I/O. Each open(2) is a request to a
/// metadata server, so usually only the descriptor for direct I/O is open. The other one is opened for the first bytes
/// that do not fill a page, or at once if direct I/O is not available.
struct PositionalFile::Handles {
  int flags = 0;                  // flags of open(2) for both descriptors
  std::atomic<int> direct{-1};    // -1: direct I/O was not requested, or the file system refused it
  std::atomic<int> buffered{-1};  // -1: not opened yet
  std::atomic<bool> direct_works{false};
  std::atomic<bool> wrote_direct{false}, wrote_buffered{false};
  std::mutex opening;

  ~Handles() {
    for (const auto* fd : {&direct, &buffered})
      if (*fd >= 0) ::close(*fd);
  }
};

namespace {

bool on_page(std::uint64_t offset) { return offset % io_alignment == 0; }
bool on_page(const std::byte* address) { return on_page(reinterpret_cast<std::uintptr_t>(address)); }

off_t to_offset(std::uint64_t offset) { return static_cast<off_t>(offset); }

bool refuses_direct(int reason) { return reason == EINVAL || reason == EOPNOTSUPP; }

void reserve(int fd, const std::string& path, std::uint64_t bytes) {
  const auto done = uninterrupted([&] { return ::fallocate(fd, 0, 0, static_cast<off_t>(bytes)); });
  if (done == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
  fail("reserve " + std::to_string(bytes) + " bytes for", path, errno);
}

/// Returns the name of open(2) with `flags` for error messages.
std::string_view name_of_open(int flags) { return (flags & O_CREAT) != 0 ? "create" : "open"; }

}  // namespace

PositionalFile::PositionalFile(PositionalFile&&) noexcept = default;
PositionalFile& PositionalFile::operator=(PositionalFile&&) noexcept = default;
PositionalFile::~PositionalFile() = default;

PositionalFile::PositionalFile(std::string path, int flags, Cache cache)
    : path_(std::move(path)), handles_(std::make_unique<Handles>()) {
  handles_->flags = flags;
  if (cache == Cache::bypass) {
    handles_->direct = open_guarded(path_, flags | O_DIRECT);
    if (handles_->direct < 0 && !refuses_direct(errno)) fail(name_of_open(flags), path_, errno);
  }
  handles_->direct_works = handles_->direct >= 0;
  size();  // throws Error if the file is not a regular file
}

PositionalFile PositionalFile::create(const std::string& path, std::uint64_t expected_bytes) {
  PositionalFile file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, Cache::bypass);
  if (expected_bytes > 0) reserve(file.direct() ? file.handles_->direct.load() : file.buffered(), path, expected_bytes);
  return file;
}

PositionalFile PositionalFile::open(const std::string& path, Cache cache) {
  // O_NONBLOCK: otherwise, open(2) of a named pipe would wait for a writer.
  return PositionalFile(path, O_RDONLY | O_NONBLOCK, cache);
}

int PositionalFile::buffered() const {
  auto& handles = *handles_;
  if (handles.buffered >= 0) return handles.buffered;
  const std::lock_guard lock(handles.opening);
  if (handles.buffered >= 0) return handles.buffered;
  const int fd = open_guarded(path_, handles.flags);
  if (fd < 0) fail(name_of_open(handles.flags), path_, errno);
  if ((handles.flags & O_ACCMODE) == O_RDONLY) ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  handles.buffered = fd;
  return fd;
}

void PositionalFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  // Direct I/O writes only complete pages. No other write() with a disjoint byte range touches these pages, so the page
  // cache cannot hold older versions of them.
  const auto pages = bytes.first(on_page(offset) && on_page(bytes.data()) ? align_down(bytes.size()) : 0);
  const auto done = transfer_direct("write", offset, pages.size(), [&](int fd, std::size_t at) {
    const auto count = ::pwrite(fd, pages.data() + at, std::min(pages.size() - at, bytes_per_call), to_offset(offset + at));
    if (count > 0) handles_->wrote_direct = true;
    return count;
  });
  if (done == bytes.size()) return;
  const int fd = buffered();
  handles_->wrote_buffered = true;
  write_at(fd, offset + done, bytes.subspan(done), path_);
}

template <class Call>
std::size_t PositionalFile::transfer_direct(std::string_view operation, std::uint64_t offset, std::size_t needed,
                                            Call call) const {
  std::size_t done = 0;
  while (done < needed && on_page(done) && handles_->direct_works) {
    const auto count = uninterrupted([&] { return call(handles_->direct.load(), done); });
    if (count < 0 && refuses_direct(errno))
      handles_->direct_works = false;
    else if (count < 0)
      fail_at(operation, offset + done, path_, errno);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::span<const std::byte> PositionalFile::read(std::uint64_t offset, std::size_t count, const Block& into) const {
  if (count == 0) return {};
  const auto first = align_down(offset);
  const auto lead = static_cast<std::size_t>(offset - first);
  const auto pages = static_cast<std::size_t>(align_up(offset + count) - first);
  if (into.bytes().size() < pages)
    throw Error(
        fmt::format("cannot read {} bytes at byte {} of '{}': the pages with these bytes have {} bytes, but the "
                    "block of memory has only {}",
                    count, offset, path_, pages, into.bytes().size()));
  const auto needed = lead + count;
  const auto direct = transfer_direct("read", first, needed, [&](int fd, std::size_t at) {
    return ::pread(fd, into.bytes().data() + at, std::min(pages - at, bytes_per_call), to_offset(first + at));
  });
  const auto got = std::max(direct, lead);
  if (got < needed) {
    const auto rest = into.bytes().subspan(got, needed - got);
    if (read_at(buffered(), first + got, rest, path_) < rest.size()) fail_too_short(first + needed);
  }
  return into.bytes().subspan(lead, count);
}

std::uint64_t PositionalFile::size() const {
  return size_of_regular_file(handles_->direct >= 0 ? handles_->direct.load() : buffered(), path_);
}

bool PositionalFile::direct() const { return handles_->direct_works; }

void PositionalFile::sync() const {
  // An fsync makes the file durable, but reports only the failed writes of its own descriptor, so each descriptor with
  // writes is synced. A file without writes is synced, too, because disk space may have been reserved for it.
  const bool through_buffered = handles_->wrote_buffered || handles_->direct < 0;
  if (handles_->wrote_direct || !through_buffered) sync_file(handles_->direct, path_);
  if (through_buffered) sync_file(buffered(), path_);
}

void PositionalFile::close() {
  int reason = 0;
  for (auto* handle : {&handles_->direct, &handles_->buffered}) {
    const int fd = handle->exchange(-1);
    // On Linux, a close(2) that a signal interrupts (EINTR) has closed the descriptor.
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) reason = errno;
  }
  if (reason != 0) fail("close", path_, reason);
}

void PositionalFile::fail_too_short(std::uint64_t needed) const {
  throw Error(fmt::format("'{}' ends at byte {}, before byte {}: the file was truncated", path_, size(), needed));
}

}  // namespace trainrt::io
