#include "io/files/positional_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <trainrt/error.hpp>

#include "io/files/uninterrupted.hpp"

namespace trainrt::io {

// The usual file has one descriptor, the direct one: opening costs a metadata server a request. The buffered one is opened
// when the first ragged end comes, or at once if direct I/O cannot be had.
struct PositionalFile::Handles {
  int flags = 0;                  // of both
  std::atomic<int> direct{-1};    // -1: not asked for, or refused
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

bool refuses_direct(int reason) { return reason == EINVAL || reason == EOPNOTSUPP; }

void require_regular(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail("look at", path, errno);
  if (!S_ISREG(info.st_mode)) throw Error("cannot use '" + path + "': it is not a regular file");
}

void reserve(int fd, const std::string& path, std::uint64_t bytes) {
  const auto done = uninterrupted([&] { return ::fallocate(fd, 0, 0, static_cast<off_t>(bytes)); });
  if (done == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
  fail("reserve " + std::to_string(bytes) + " bytes for", path, errno);
}

}  // namespace

PositionalFile::PositionalFile(PositionalFile&&) noexcept = default;
PositionalFile& PositionalFile::operator=(PositionalFile&&) noexcept = default;
PositionalFile::~PositionalFile() = default;

PositionalFile::PositionalFile(std::string path, int flags, Cache cache)
    : path_(std::move(path)), handles_(std::make_unique<Handles>()) {
  handles_->flags = flags;
  if (cache == Cache::bypass) {
    handles_->direct = open_retrying(path_, flags | O_DIRECT);
    if (handles_->direct < 0 && !refuses_direct(errno)) fail("open", path_, errno);
  }
  handles_->direct_works = handles_->direct >= 0;
  require_regular(handles_->direct_works ? handles_->direct.load() : buffered(), path_);
}

PositionalFile PositionalFile::create(const std::string& path, std::uint64_t expected_bytes) {
  PositionalFile file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, Cache::bypass);
  if (expected_bytes > 0) reserve(file.direct() ? file.handles_->direct.load() : file.buffered(), path, expected_bytes);
  return file;
}

PositionalFile PositionalFile::open(const std::string& path, Cache cache) {
  // O_NONBLOCK: a named pipe in the file's place is an error, not a wait.
  return PositionalFile(path, O_RDONLY | O_NONBLOCK, cache);
}

int PositionalFile::buffered() const {
  auto& handles = *handles_;
  if (handles.buffered >= 0) return handles.buffered;
  const std::lock_guard lock(handles.opening);
  if (handles.buffered >= 0) return handles.buffered;
  const int fd = open_retrying(path_, handles.flags);
  if (fd < 0) fail("open", path_, errno);
  if ((handles.flags & O_ACCMODE) == O_RDONLY) ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  handles.buffered = fd;
  return fd;
}

void PositionalFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  // A page that goes directly is written by this call alone, whole: no call at other offsets can touch it, so the page
  // cache never holds an older state of it.
  const auto pages = on_page(offset) && on_page(bytes.data()) ? align_down(bytes.size()) : 0;
  const auto done = write_direct(offset, bytes.first(pages));
  write_buffered(offset + done, bytes.subspan(done));
}

/// Returns how much of it is written: all, or less if the rest must go by the page cache.
std::size_t PositionalFile::write_direct(std::uint64_t offset, std::span<const std::byte> pages) const {
  std::size_t done = 0;
  while (done < pages.size() && on_page(done) && handles_->direct_works) {
    const auto count = uninterrupted([&] {
      return ::pwrite(handles_->direct, pages.data() + done, std::min(pages.size() - done, bytes_per_call),
                      static_cast<off_t>(offset + done));
    });
    if (count < 0 && refuses_direct(errno)) {
      handles_->direct_works = false;
      break;
    }
    if (count <= 0) fail_at("write", offset + done, count < 0 ? errno : ENOSPC);
    handles_->wrote_direct = true;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void PositionalFile::write_buffered(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const int fd = buffered();
    handles_->wrote_buffered = true;
    const auto count = uninterrupted(
        [&] { return ::pwrite(fd, bytes.data(), std::min(bytes.size(), bytes_per_call), static_cast<off_t>(offset)); });
    if (count <= 0) fail_at("write", offset, count < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::span<const std::byte> PositionalFile::read(std::uint64_t offset, std::size_t count, const Block& into) const {
  if (count == 0) return {};
  const auto first = align_down(offset);
  const auto lead = static_cast<std::size_t>(offset - first);
  const auto pages = static_cast<std::size_t>(align_up(offset + count) - first);
  if (into.bytes().size() < pages)
    throw Error(fmt::format("cannot read {} bytes at byte {} of '{}': their pages are {} bytes, the block has {}", count,
                            offset, path_, pages, into.bytes().size()));
  const auto needed = lead + count;
  const auto got = std::max(read_direct(first, into.bytes().first(pages), needed), lead);
  if (got < needed) read_buffered(first + got, into.bytes().subspan(got, needed - got));
  return into.bytes().subspan(lead, count);
}

/// Reads at least what is needed of these pages; returns less if the rest must come by the page cache.
std::size_t PositionalFile::read_direct(std::uint64_t offset, std::span<std::byte> pages, std::size_t needed) const {
  std::size_t done = 0;
  while (done < needed && on_page(done) && handles_->direct_works) {
    const auto count = uninterrupted([&] {
      return ::pread(handles_->direct, pages.data() + done, std::min(pages.size() - done, bytes_per_call),
                     static_cast<off_t>(offset + done));
    });
    if (count < 0 && refuses_direct(errno)) {
      handles_->direct_works = false;
      break;
    }
    if (count < 0) fail_at("read", offset + done, errno);
    if (count == 0) fail_cut(offset + needed);
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void PositionalFile::read_buffered(std::uint64_t offset, std::span<std::byte> bytes) const {
  const auto end = offset + bytes.size();
  while (!bytes.empty()) {
    const int fd = buffered();
    const auto count = uninterrupted(
        [&] { return ::pread(fd, bytes.data(), std::min(bytes.size(), bytes_per_call), static_cast<off_t>(offset)); });
    if (count < 0) fail_at("read", offset, errno);
    if (count == 0) fail_cut(end);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::uint64_t PositionalFile::size() const {
  struct stat info {};
  if (::fstat(handles_->direct >= 0 ? handles_->direct.load() : buffered(), &info) != 0) fail("look at", path_, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

bool PositionalFile::direct() const { return handles_->direct_works; }

void PositionalFile::sync() const {
  // One fsync makes all of the file durable, but each descriptor reports only the failures that its own fsync finds. And
  // what was reserved counts as written.
  const bool both = handles_->wrote_direct && handles_->wrote_buffered;
  const bool only_buffered = handles_->wrote_buffered || handles_->direct < 0;
  if (both || !only_buffered)
    if (uninterrupted([&] { return ::fsync(handles_->direct); }) != 0) fail("make durable (fsync)", path_, errno);
  if (both || only_buffered)
    if (uninterrupted([&] { return ::fsync(buffered()); }) != 0) fail("make durable (fsync)", path_, errno);
}

void PositionalFile::close() {
  int reason = 0;
  for (auto* handle : {&handles_->direct, &handles_->buffered}) {
    const int fd = handle->exchange(-1);
    // A close that was interrupted has closed all the same (Linux).
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) reason = errno;
  }
  if (reason != 0) fail("close", path_, reason);
}

void PositionalFile::fail_at(std::string_view operation, std::uint64_t offset, int reason) const {
  fail(fmt::format("{} at byte {} of", operation, offset), path_, reason);
}

void PositionalFile::fail_cut(std::uint64_t needed) const {
  throw Error(fmt::format("'{}' ends at byte {}, before {}: it was cut", path_, size(), needed));
}

}  // namespace trainrt::io
