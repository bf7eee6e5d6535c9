#pragma once
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "core/files/guarded_tree.hpp"

namespace trainrt::io {

using trainrt::Descriptor;

/// Calls `call`, a system call, and repeats it while a signal interrupts it (EINTR). Returns the call's result. Not for
/// close(2): on Linux, an interrupted close(2) has closed the descriptor.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Maximum number of bytes to request from one read or write call, a multiple of the page size. Linux transfers at most
/// 0x7ffff000 bytes per call.
inline constexpr std::size_t bytes_per_call = std::size_t{1} << 30;

/// Reads the status of `path` into `status` by lstat(2). Returns -1 and sets errno on failure. Below a GuardedTree
/// (core/files/guarded_tree.hpp), fails with ELOOP if a directory of `path` is a symbolic link.
int link_status(const std::string& path, struct stat& status);

// --- Functions on an open file descriptor `fd`. They throw StorageError with `path`, the path by which `fd` was opened.
// ---

/// Returns the status of the open file `fd`, by fstat(2).
struct stat status_of(int fd, const std::string& path);

/// Returns the size in bytes of the open file `fd`. Throws Error if it is not a regular file.
std::uint64_t size_of_regular_file(int fd, const std::string& path);

/// Reads the bytes of a file from `offset` on into `into`. Returns the number of bytes read, which is less than
/// into.size() only at the end of the file. Continues after interrupted and short calls of pread(2).
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> into, const std::string& path);

/// Writes all of `bytes` to a file at `offset`. Continues after interrupted and short calls of pwrite(2).
void write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path);

/// Throws StorageError with the message "cannot OPERATION at byte OFFSET of 'PATH': REASON; ADVICE".
[[noreturn]] void fail_at(std::string_view operation, std::uint64_t offset, const std::string& path, int error_number);

/// Makes all data written to the open file `fd` durable, by fsync(2).
void sync_file(int fd, const std::string& path);

}  // namespace trainrt::io
