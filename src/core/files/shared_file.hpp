#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <trainrt/tensor.hpp>

namespace trainrt {

/// The byte range of an anonymous file (memfd_create(2)) that backs a Memory (trainrt/tensor.hpp). Another process can map
/// the range. The descriptor is open as long as the Memory exists.
struct FilePlace {
  int descriptor = -1;
  std::size_t at = 0;  ///< offset of the range in the file, in bytes
  std::size_t bytes = 0;
};

/// The deleter of a Memory (trainrt/tensor.hpp) that an anonymous file backs. It stores the byte range of the file. When
/// the Memory is destroyed, the deleter calls `end`, which frees the memory.
struct FileMemoryEnd {
  FilePlace place;
  std::function<void()> end;
  void operator()(std::byte*) const { end(); }
};

/// Returns the byte range of the anonymous file that backs `memory`. Returns nullopt if no such file backs the memory;
/// other processes can then not map it.
inline std::optional<FilePlace> file_place_of(const Memory& memory) {
  const auto* const end = std::get_deleter<FileMemoryEnd>(memory);
  return end == nullptr ? std::nullopt : std::optional(end->place);
}

}  // namespace trainrt
