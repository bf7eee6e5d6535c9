#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/files/descriptor.hpp"

namespace trainrt::io {

/// A small file in which each of several processes rewrites its own range of bytes again and again, for data that may be
/// lost: writes go through the page cache and do not wait for the disk. The file is created if it does not exist; its
/// folder must exist. A symbolic link, or anything else that is not a regular file, is an error. Must be used from one
/// thread.
class SlotFile {
 public:
  explicit SlotFile(std::string path) : path_(std::move(path)) {}
  /// Throws StorageError. The next call after an error opens the file again.
  void write(std::uint64_t offset, std::string_view bytes);

 private:
  void open();

  std::string path_;
  std::optional<Descriptor> fd_;
};

}  // namespace trainrt::io
