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

/// The last `lines` lines of a text. Pure; async-signal-safe.
std::string_view end_of_lines(std::string_view text, std::size_t lines = 20);
/// The same, of at most `bytes` bytes in all: longer ones lose their beginnings. Pure.
std::string last_lines(std::string_view text, std::size_t lines, std::size_t bytes);

/// What an error has of the output of a rank that failed: the last lines, 20 at most and 8 KiB, as a terminal can take
/// them; "" if there are none. Pure.
std::string printable_end(std::string_view output);
/// These lines below the message: which they are, and the lines themselves. "" without any. Pure.
std::string lines_in_words(int rank, const std::string& lines);

}  // namespace trainrt
