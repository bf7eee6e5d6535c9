#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <trainrt/tensor.hpp>

namespace trainrt {

/// Where memory lies that another process may map: in a file without a name. The descriptor lives as long as the memory.
struct FilePlace {
  int descriptor = -1;
  std::size_t at = 0;
  std::size_t bytes = 0;
};

/// The deleter of such memory.
struct FileMemoryEnd {
  FilePlace place;
  std::function<void()> end;
  void operator()(std::byte*) const { end(); }
};

/// Nothing if the memory is this process's alone.
inline std::optional<FilePlace> file_place_of(const Memory& memory) {
  const auto* const end = std::get_deleter<FileMemoryEnd>(memory);
  return end == nullptr ? std::nullopt : std::optional(end->place);
}

}  // namespace trainrt
