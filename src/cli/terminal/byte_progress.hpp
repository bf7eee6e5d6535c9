#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainrt::cli {

/// "1.2 GiB"; below 1 KiB "17 B".
std::string bytes_text(std::uint64_t bytes);

/// "1.2 of 2.4 GiB"
std::string bytes_text(std::uint64_t done, std::uint64_t all);

/// Shows how far a command is with its bytes, on standard error. On a terminal one line with a bar, written anew in place
/// ten times a second at most; in a log a line a minute at most, the first after a minute. One thread at a time calls.
class ByteProgress {
 public:
  struct Screen {
    bool terminal = false;
    std::function<void(std::string_view)> write;
    std::function<double()> now;  ///< monotonic seconds
  };
  static Screen standard_error();

  /// How far, in words; of bytes unless told otherwise.
  using InWords = std::string (*)(std::uint64_t done, std::uint64_t all);
  /// `what` stands in front: "checkpoint_000012".
  ByteProgress(std::string what, bool quiet, Screen screen = standard_error(), InWords in_words = bytes_text);
  ~ByteProgress() { end(); }
  ByteProgress(const ByteProgress&) = delete;

  void show(std::uint64_t done, std::uint64_t all);
  /// Wipes the line of a terminal: whatever is printed next begins at its first column.
  void end();

 private:
  std::string what_;
  bool quiet_;
  Screen screen_;
  InWords in_words_;
  double shown_s_;
  bool line_open_ = false;
};

}  // namespace trainrt::cli
