#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/files/block_pool.hpp"
#include "io/files/file.hpp"

namespace trainrt::io {

/// Reads or writes a file at given offsets. Several threads, and several processes with disjoint byte ranges, may do so
/// at the same time.
/// - Complete pages are transferred by direct I/O (O_DIRECT, which bypasses the page cache) if the file system supports
///   it, all other bytes through the page cache.
/// - Uses no memory mapping and no locks.
/// - Continues after interrupted and short system calls.
/// - A StorageError names the operation, the offset, the path, the reason and the remedy.
class PositionalFile {
 public:
  /// Opens a file for writing. Creates the file if it does not exist, and keeps its content if it does. A symbolic link
  /// is an error.
  ///
  /// Reserves `expected_bytes` bytes of disk space at once, and extends the file to at least this length. Parallel
  /// writers then need not extend the file one after the other, and a full disk is reported early. Reserves nothing if
  /// the file system does not support it.
  static PositionalFile create(const std::string& path, std::uint64_t expected_bytes = 0);
  enum class Cache { bypass, use };
  /// Opens a file for reading. Cache::bypass reads by direct I/O, Cache::use through the page cache, for a file that
  /// several ranks of a node read.
  static PositionalFile open(const std::string& path, Cache cache = Cache::bypass);

  PositionalFile(PositionalFile&&) noexcept;
  PositionalFile& operator=(PositionalFile&&) noexcept;
  ~PositionalFile();

  /// Writes all of `bytes` to the file at `offset`. Direct I/O is used only if both `offset` and the address of `bytes`
  /// are multiples of the page size.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;

  /// Reads `count` bytes of the file at `offset` into the block `into`, and returns the part of the block that holds
  /// them. The block must be large enough for all pages that contain these bytes. Throws Error if the file ends before
  /// the end of this byte range.
  std::span<const std::byte> read(std::uint64_t offset, std::size_t count, const Block& into) const;

  std::uint64_t size() const;
  bool direct() const;  ///< whether direct I/O is used: it was requested, and the file system has not refused it so far
  const std::string& path() const { return path_; }

  /// Makes all data written through this object durable, by fsync(2).
  void sync() const;
  /// Closes the file and throws if that fails, whereas the destructor ignores errors. Does nothing if the file is already
  /// closed.
  void close();

 private:
  struct Handles;
  PositionalFile(std::string path, int flags, Cache cache);
  /// Transfers bytes by direct I/O: calls `call(fd, done)`, which returns like pread(2), until `needed` bytes have been
  /// transferred. Returns the number of bytes transferred; if it is less than `needed`, the caller must transfer the rest
  /// through the page cache.
  template <class Call>
  std::size_t transfer_direct(std::string_view operation, std::uint64_t offset, std::size_t needed, Call call) const;
  int buffered() const;
  [[noreturn]] void fail_too_short(std::uint64_t needed) const;

  std::string path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace trainrt::io
