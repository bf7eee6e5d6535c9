#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/files/descriptor.hpp"

namespace trainrt::io {

/// A small file that several processes share: each process rewrites its own byte range (slot) again and again.
///
/// For data that may be lost: writes go through the page cache and do not wait for the disk. The file is created if it
/// does not exist; its parent directory must exist. A symbolic link, or anything else that is not a regular file, is an
/// error. Must be used from one thread.
class SlotFile {
 public:
  explicit SlotFile(std::string path) : path_(std::move(path)) {}
  /// Writes `bytes` to the file at `offset`. Throws StorageError; the next call after an error opens the file again.
  void write(std::uint64_t offset, std::string_view bytes);

 private:
  void open();

  std::string path_;
  std::optional<Descriptor> fd_;
};

}  // namespace trainrt::io
