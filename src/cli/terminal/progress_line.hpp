#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainrt::cli {

/// Formats progress in bytes for ProgressLine: "1.2 of 2.4 GiB".
std::string progress_in_bytes(std::uint64_t done, std::uint64_t all);

/// Shows the progress of a command on standard error. On a terminal this is one line with a bar, updated up to ten times a
/// second. In a log it is a new line every minute, the first after a minute. Not thread-safe.
class ProgressLine {
 public:
  /// The output device, replaceable for tests.
  struct Screen {
    bool terminal = false;
    std::function<void(std::string_view)> write;
    std::function<double()> now;  ///< monotonic seconds
  };
  static Screen standard_error();

  /// Formats the progress: "75.0 of 150.0 MiB".
  using Format = std::string (*)(std::uint64_t done, std::uint64_t all);
  /// `title` begins the line: "checkpoint_000012". If `quiet` is true, nothing is shown.
  ProgressLine(std::string title, bool quiet, Screen screen = standard_error(), Format format = progress_in_bytes);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;

  void show(std::uint64_t done, std::uint64_t all);
  /// Erases the line on a terminal, so that the next output begins at its first column.
  void end();

 private:
  std::string title_;
  bool quiet_;
  Screen screen_;
  Format format_;
  double shown_s_;
  bool line_open_ = false;
};

}  // namespace trainrt::cli
