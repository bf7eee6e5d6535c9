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

/// A file that is written or read at given offsets, by several threads and (at disjoint offsets) several processes at once.
/// Whole pages go by direct I/O (O_DIRECT, past the page cache) if the file system takes it, and by the page cache if
/// it does not; what is no whole page always goes by the page cache. Nothing is mapped, nothing is locked. Interrupted and
/// short calls are continued. Errors name the operation, the offset, the path, the reason and what to do.
class PositionalFile {
 public:
  /// Opens for writing, makes the file if it is not there and keeps what is in it if it is. A symbolic link in its
  /// place is an error. `expected_bytes`: space
  /// that is reserved at once, the file being as long from then on, so that parallel writes need not extend it one after
  /// the other and a full disk is known early (0: none; if the file system cannot reserve, none is).
  static PositionalFile create(const std::string& path, std::uint64_t expected_bytes = 0);
  enum class Cache { bypass, use };
  /// Opens for reading. use: through the page cache, for what several ranks of a node read.
  static PositionalFile open(const std::string& path, Cache cache = Cache::bypass);

  PositionalFile(PositionalFile&&) noexcept;
  PositionalFile& operator=(PositionalFile&&) noexcept;
  ~PositionalFile();

  /// Direct if `bytes` starts on a page boundary of memory and `offset` on one of the file.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;

  /// Reads `count` bytes at `offset` into a block that is large enough for all pages they touch, and returns where in the
  /// block they lie. A file that ends before is an Error that says so.
  std::span<const std::byte> read(std::uint64_t offset, std::size_t count, const Block& into) const;

  std::uint64_t size() const;
  bool direct() const;  ///< the file system took O_DIRECT so far
  const std::string& path() const { return path_; }

  /// fsync: everything written is on disk when it returns.
  void sync() const;
  void close();  ///< checked; the destructor closes without a check

 private:
  struct Handles;
  PositionalFile(std::string path, int flags, Cache cache);
  std::size_t write_direct(std::uint64_t offset, std::span<const std::byte> pages) const;
  void write_buffered(std::uint64_t offset, std::span<const std::byte> bytes) const;
  std::size_t read_direct(std::uint64_t offset, std::span<std::byte> pages, std::size_t needed) const;
  void read_buffered(std::uint64_t offset, std::span<std::byte> bytes) const;
  int buffered() const;
  [[noreturn]] void fail_at(std::string_view operation, std::uint64_t offset, int reason) const;
  [[noreturn]] void fail_cut(std::uint64_t needed) const;

  std::string path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace trainrt::io
