#pragma once
#include <optional>
#include <span>
#include <string>

#include <termios.h>

#include "batch/signal_queue.hpp"
#include "core/output/terminal.hpp"

namespace trainrt::cli {

/// Takes over the terminal of standard output for a display that is redrawn in place (xterm's alternate screen, hidden
/// cursor). Keys are read at once and not echoed. The destructor restores the terminal. At most one object may exist.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;

  /// Returns the size of the terminal; nullopt if standard output is not a terminal that supports control sequences.
  static std::optional<TerminalSize> size();

  /// Replaces the content of the screen by `lines`. Returns false if the terminal was closed.
  bool show(std::span<const std::string> lines) const;
  enum class Input { none, key, quit, resized };
  /// Waits up to `seconds` seconds for input. Returns
  /// - quit for the keys q, Escape, Ctrl-C and Ctrl-D, for a stop signal, and if the terminal was closed
  /// - key for another key
  /// - resized if the size of the terminal has changed
  /// - none after the time limit
  Input wait(double seconds);

 private:
  Input read_key();

  batch::SignalQueue signals_;
  std::optional<TerminalSize> size_;
  std::optional<termios> original_;  ///< settings to restore; empty if standard input is not a terminal
};

}  // namespace trainrt::cli
