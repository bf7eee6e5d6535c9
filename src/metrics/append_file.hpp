#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/files/file.hpp"

namespace trainrt::metrics {

/// An existing file that grows at its end. Errors are io's.
class AppendFile {
 public:
  explicit AppendFile(const std::string& path);

  /// All of `bytes` in one write(2), or an error; the file is as it was then, unless it cannot be cut either.
  void append(std::string_view bytes);
  void sync();
  /// Cuts it to so many bytes.
  void truncate(std::uint64_t bytes);

 private:
  std::string path_;
  io::Descriptor fd_;
};

}  // namespace trainrt::metrics
