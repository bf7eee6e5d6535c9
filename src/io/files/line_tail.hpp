#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::io {

/// Reads the lines that other processes append to a file, each line once. If the file is long at the first read, only its
/// end is read. If the file is replaced or becomes shorter, reading starts over.
class LineTail {
 public:
  /// `max_bytes`: size of the part at the end of the file that the first read covers.
  explicit LineTail(std::string path, std::uint64_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {}

  struct NewLines {
    bool is_new_file = false;  ///< lines returned by earlier reads are not part of this file
    std::vector<std::string> lines;
  };
  /// Returns the complete lines added since the last call, without line ends; none if the file does not exist or is not a
  /// regular file. Throws StorageError if it cannot be read.
  NewLines read();

 private:
  std::string path_;
  std::uint64_t max_bytes_;
  std::uint64_t device_ = 0, inode_ = 0;
  std::uint64_t at_ = 0;  ///< offset of the end of the lines read so far
};

}  // namespace trainrt::io
