#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::io {

/// Follows a file to which other processes append lines; returns each line once. If the file is long at the first read,
/// only its tail is read. If the file is replaced or truncated, reading starts over.
class LineTail {
 public:
  /// `max_bytes`: maximum size, in bytes, of the tail of the file that the first read() covers.
  explicit LineTail(std::string path, std::uint64_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {}

  struct NewLines {
    /// True if the file is new, or was replaced or truncated: lines returned by earlier reads are then not part of it.
    bool is_new_file = false;
    std::vector<std::string> lines;
  };
  /// Returns the complete lines added to the file since the last call, without newlines. Returns no lines if the file
  /// does not exist or is not a regular file. Throws StorageError if the file cannot be read.
  NewLines read();

 private:
  std::string path_;
  std::uint64_t max_bytes_;
  std::uint64_t device_ = 0, inode_ = 0;
  std::uint64_t at_ = 0;  ///< file offset of the end of the lines returned so far
};

}  // namespace trainrt::io
