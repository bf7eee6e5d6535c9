#pragma once
#include <optional>
#include <span>
#include <string>

#include <termios.h>

#include "batch/signal_queue.hpp"
#include "core/output/terminal.hpp"

namespace trainrt::cli {

/// The whole terminal of standard output for pictures, each in the place of the one before (xterm's alternate screen, and
/// no cursor); keys come at once, and are not shown. The destructor gives back all that was there. One at a time.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;

  /// What people see on it: nullopt if standard output is no terminal that knows control sequences.
  static std::optional<TerminalSize> size();

  /// False if the terminal is gone.
  bool show(std::span<const std::string> lines) const;
  enum class Input { none, key, quit, resized };
  /// Waits so many seconds: for a key (q, Escape and Ctrl-C: quit), a signal that ends programs (quit), or another size.
  Input wait(double seconds);

 private:
  Input key();

  batch::SignalQueue signals_;
  std::optional<TerminalSize> size_;
  std::optional<termios> before_;  ///< if standard input is a terminal
};

}  // namespace trainrt::cli
