#pragma once
#include <string>
#include <string_view>

#include "io/file.hpp"

namespace trainrt::metrics {

/// An existing file that grows at its end. Errors are io's.
class AppendFile {
 public:
  explicit AppendFile(const std::string& path);

  /// Renames the file over `path`, in the same directory, and makes that durable. Whoever had the old file open goes on
  /// appending to a file without a name.
  void rename_over(const std::string& path);

  /// All of `bytes` in one write(2), or an error and the file as it was.
  void append(std::string_view bytes);
  void sync();

 private:
  std::string path_;
  io::Descriptor fd_;
};

}  // namespace trainrt::metrics
