#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/files/file.hpp"

namespace trainrt::io {

/// A small file that several processes write into, each at its own place, again and again: by the page cache, without
/// waiting for the disk. For what can be missed. It is made if it is not there; its folder must be. A symbolic link, or
/// anything else that is no file, is not followed and not written to.
class PositionedLines {
 public:
  explicit PositionedLines(std::string path) : path_(std::move(path)) {}
  /// Throws StorageError. The next call opens the file anew then.
  void write(std::uint64_t offset, std::string_view bytes);

 private:
  void open();

  std::string path_;
  std::optional<Descriptor> fd_;
};

}  // namespace trainrt::io
