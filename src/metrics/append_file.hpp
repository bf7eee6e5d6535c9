#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/files/fenced_directory.hpp"
#include "io/files/file.hpp"

namespace trainrt::metrics {

/// A file that is open for appending. Throws the errors of io/files/file.hpp.
class AppendFile {
 public:
  /// Opens an existing file.
  explicit AppendFile(const std::string& path);

  /// Replaces file `name` of the run directory by one that contains `bytes`, and opens it.
  static AppendFile replace(const io::FencedDirectory& run_dir, const std::string& name, std::string_view bytes);

  /// Appends all of `bytes` in one write(2). On an error nothing is appended, unless the file cannot be truncated either.
  void append(std::string_view bytes);
  void sync();
  /// Truncates the file to a length of `bytes`.
  void truncate(std::uint64_t bytes);

 private:
  std::string path_;
  io::Descriptor fd_;
};

}  // namespace trainrt::metrics
