#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <trainrt/tensor.hpp>

namespace trainrt {

/// The part of an anonymous file (memfd_create(2)) that backs a Memory, so that another process can map it. The descriptor
/// is open as long as the memory exists.
struct FilePlace {
  int descriptor = -1;
  std::size_t at = 0;  ///< offset in bytes
  std::size_t bytes = 0;
};

/// The deleter of a Memory that a file backs.
struct FileMemoryEnd {
  FilePlace place;
  std::function<void()> end;
  void operator()(std::byte*) const { end(); }
};

/// Returns the file that backs the memory; nullopt if no other process can map it.
inline std::optional<FilePlace> file_place_of(const Memory& memory) {
  const auto* const end = std::get_deleter<FileMemoryEnd>(memory);
  return end == nullptr ? std::nullopt : std::optional(end->place);
}

}  // namespace trainrt
