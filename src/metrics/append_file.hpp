#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/files/fenced_directory.hpp"
#include "io/files/file.hpp"

namespace trainrt::metrics {

/// A file that is open for appending. All functions throw the errors of io/files/file.hpp.
class AppendFile {
 public:
  /// Opens an existing file for appending.
  explicit AppendFile(const std::string& path);

  /// Replaces file `name` of the run directory by a file that contains `bytes`, and opens the new file.
  static AppendFile replace(const io::FencedDirectory& run_dir, const std::string& name, std::string_view bytes);

  /// Appends all of `bytes`, usually by one write(2). After an error the file is truncated to its previous length; if the
  /// truncation fails, too, a part of `bytes` remains.
  void append(std::string_view bytes);
  void sync();
  void truncate(std::uint64_t bytes);

 private:
  std::string path_;
  io::Descriptor fd_;
};

}  // namespace trainrt::metrics
