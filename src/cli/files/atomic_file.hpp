#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/files/removal_guard.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli {

/// A new file that appears under its name only when it is complete. It is written to a temporary file in the same
/// directory. commit() makes the temporary file durable and renames it.
///
/// Without commit(), the temporary file is removed, even if this process is killed (RemovalGuard). If all processes of
/// the job are killed, the next AtomicFile in that directory removes it.
class AtomicFile {
 public:
  /// Creates no file yet. `replace`: whether commit() replaces an existing file `path`. Throws UsageError if `path`
  /// exists and `replace` is false, if `path` is a directory, or if the directory of `path` does not exist.
  AtomicFile(std::string path, bool replace);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;

  /// Creates the temporary file and reserves `bytes` bytes of disk space, the exact size of the file, so that a full disk
  /// is reported early. Optional; must be called before the first write().
  void reserve(std::uint64_t bytes);
  /// Writes at any offset, in any order. Bytes that are never written are zero. Throws StorageError.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void write(std::uint64_t offset, std::string_view text) { write(offset, std::as_bytes(std::span(text))); }
  /// Returns the path of the temporary file. After reserve(), other ranks may also write to it.
  const std::string& temporary_path() const { return temporary_path_; }
  std::uint64_t bytes() const { return bytes_; }  ///< end of the last byte that was written
  /// Makes the file durable and renames it to its path. Throws UsageError if that path now exists and must not be replaced,
  /// and StorageError.
  void commit();

 private:
  void create();

  std::string path_;
  bool replace_;
  std::string temporary_path_;
  std::optional<RemovalGuard> guard_;  ///< exists as long as the temporary file
  std::optional<io::PositionalFile> file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::cli
