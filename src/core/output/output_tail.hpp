#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

/// Keeps the end of an output of any length in bounded memory.
class OutputTail {
 public:
  static constexpr std::size_t max_bytes = std::size_t{64} << 10;

  void add(std::string_view bytes);
  /// Returns the last `max_bytes` of the output; its first line may be cut. A line that \r overwrites several times (a
  /// progress bar) appears once, in its last state.
  std::string text() const;

 private:
  std::string bytes_;
};

/// Returns the last `lines` lines of a text. Pure function; async-signal-safe.
std::string_view end_of_lines(std::string_view text, std::size_t lines = 20);
/// Returns the last `lines` lines of a text; only the last `bytes` bytes, after "...", if they are longer. Pure function.
std::string last_lines(std::string_view text, std::size_t lines, std::size_t bytes);

/// Returns the part of a failed rank's output that its error message shows: the last 20 lines, at most 8 KiB, with control
/// characters escaped; "" if there is no output. Pure function.
std::string printable_end(std::string_view output);
/// Returns these lines as the end of an error message, after a line that introduces them; "" without lines. Pure function.
std::string lines_in_words(int rank, const std::string& lines);

}  // namespace trainrt
