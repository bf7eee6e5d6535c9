#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>

#include "cli/files/atomic_file.hpp"

namespace trainrt::cli {

/// Writes a zip archive with minizip: uncompressed entries of any size, one after the other, with UTF-8 names. The archive
/// contains no times, so that equal contents give equal bytes.
class ZipFile {
 public:
  /// Function that writes bytes at an offset of the archive. Offsets ascend, except for the sizes and checksums of an
  /// entry, which are written when the entry ends.
  using Sink = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;
  explicit ZipFile(Sink sink);
  /// Writes into `file`, which must outlive this object.
  explicit ZipFile(AtomicFile& file) : ZipFile([&file](std::uint64_t offset, auto bytes) { file.write(offset, bytes); }) {}
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;

  /// Begins an entry of `bytes` bytes and ends the previous one. Like write() and finish(), rethrows errors of the sink and
  /// throws Error if minizip fails.
  void begin(const std::string& name, std::uint64_t bytes);
  /// Writes the next bytes of the current entry.
  void write(std::span<const std::byte> bytes);
  /// Ends the last entry and writes the directory of the archive.
  void finish();
  std::uint64_t bytes() const { return bytes_; }  ///< end of the last byte that was written

 private:
  struct Calls;  // callbacks for minizip
  void check(int result, const char* operation);
  void end_entry();

  Sink sink_;
  std::uint64_t bytes_ = 0;
  void* zip_ = nullptr;
  bool in_entry_ = false;
  std::uint64_t offset_ = 0;  ///< of the next write by minizip
  std::exception_ptr error_;  ///< exception of the sink, kept here because it cannot pass through C code
};

}  // namespace trainrt::cli
