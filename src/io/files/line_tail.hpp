#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::io {

/// Reads the lines at the end of a file that others append to, each once, and never all of a long file. A file that was
/// replaced or has become shorter is begun anew.
class LineTail {
 public:
  /// `most_bytes`: of the end of the file, at the first look.
  explicit LineTail(std::string path, std::uint64_t most_bytes) : path_(std::move(path)), most_bytes_(most_bytes) {}

  struct News {
    bool is_new_file = false;  ///< what was read before is no part of this file
    std::vector<std::string> lines;
  };
  /// The whole lines that came since the last look; none if the file is not there. StorageError if it cannot be read.
  News read();

 private:
  std::string path_;
  std::uint64_t most_bytes_;
  std::uint64_t device_ = 0, inode_ = 0;
  std::uint64_t at_ = 0;  ///< the end of the lines that were read
};

}  // namespace trainrt::io
