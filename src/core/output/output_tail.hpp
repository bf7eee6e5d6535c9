#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

/// Stores the last bytes of a process's output in bounded memory. The output may have any length.
class OutputTail {
 public:
  static constexpr std::size_t max_bytes = std::size_t{64} << 10;

  void add(std::string_view bytes);
  /// Returns the last `max_bytes` bytes of the output; the first line may be truncated. A line that a progress bar
  /// overwrote by \r appears once, in its last state.
  std::string text() const;

 private:
  std::string bytes_;
};

/// Returns the last `lines` lines of `text`, without newlines at the end. Pure function; async-signal-safe.
std::string_view end_of_lines(std::string_view text, std::size_t lines = 20);
/// Returns the last `lines` lines of `text`. If they are longer than `bytes` bytes, returns "..." and their last `bytes`
/// bytes. Pure function.
std::string last_lines(std::string_view text, std::size_t lines, std::size_t bytes);

/// Returns the end of a failed rank's output for the rank's error message: the last 20 lines, at most 8 KiB, with control
/// characters escaped; "" if there is no output. Pure function.
std::string printable_end(std::string_view output);
/// Returns the end of an error message that shows `lines`, the last lines that rank `rank` printed: a line that names the
/// rank's log, then `lines`. Returns "" if `lines` is "". Pure function.
std::string lines_in_words(int rank, const std::string& lines);

}  // namespace trainrt
