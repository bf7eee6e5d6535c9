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
  /// Waits up to `seconds` seconds for input: quit is the key q, Escape, Ctrl-C or Ctrl-D, or a stop signal; resized is
  /// another size of the terminal; key is any other key; none is returned after the time limit.
  Input wait(double seconds);

 private:
  Input read_key();

  batch::SignalQueue signals_;
  std::optional<TerminalSize> size_;
  std::optional<termios> original_;  ///< settings to restore; empty if standard input is not a terminal
};

}  // namespace trainrt::cli
