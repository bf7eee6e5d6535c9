#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

/// The end of an output of any length, in bounded memory.
class OutputTail {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 10;

  void add(std::string_view bytes);
  /// The last `most_bytes` of it, or less; the first line may be cut. Of a line that a progress bar writes again and again
  /// (\r), what a terminal would show at last.
  std::string text() const;

 private:
  std::string bytes_;
};

/// The last `lines` lines of a text, of at most `bytes` bytes in all: longer ones lose their beginnings. Pure.
std::string last_lines(std::string_view text, std::size_t lines, std::size_t bytes);

}  // namespace trainrt
