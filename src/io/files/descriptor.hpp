#pragma once
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/files/guarded_tree.hpp"

namespace trainrt::io {

/// Owns a file descriptor, or -1, and closes it when it is destroyed, ignoring errors.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  ~Descriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Repeats a system call while a signal interrupts it. Not for close(2), which closes the descriptor even then (Linux).
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Maximum number of bytes to request from one read or write: Linux transfers at most 0x7ffff000 bytes per call. A multiple
/// of the page size.
inline constexpr std::size_t bytes_per_call = std::size_t{1} << 30;

/// lstat(2). Returns -1 with errno if it fails. A symbolic link on the way below a guarded tree is ELOOP.
int link_status(const std::string& path, struct stat& status);

// The functions below throw StorageError, which names `path`, the path by which `fd` was opened.

/// fstat(2).
struct stat status_of(int fd, const std::string& path);

/// Throws Error if `fd` is not a regular file. Returns its size in bytes.
std::uint64_t size_of_regular_file(int fd, const std::string& path);

/// Fills `into` from `offset` on; returns the number of bytes read, which is less only at the end of the file. Continues
/// interrupted and short calls of pread(2).
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> into, const std::string& path);

/// Writes all of `bytes` at `offset`. Continues interrupted and short calls of pwrite(2).
void write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path);

/// Throws the StorageError "cannot OPERATION at byte OFFSET of 'PATH': REASON; ADVICE".
[[noreturn]] void fail_at(std::string_view operation, std::uint64_t offset, const std::string& path, int error_number);

/// fsync(2): all that was written to the file is durable on return.
void sync_file(int fd, const std::string& path);

}  // namespace trainrt::io
