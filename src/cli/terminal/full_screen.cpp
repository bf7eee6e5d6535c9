#include "cli/terminal/full_screen.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include "core/host.hpp"

namespace trainrt::cli {

namespace {

constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l\x1b[2J", leave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H", clear_line = "\x1b[K", clear_below = "\x1b[J";
constexpr double size_check_interval_s = 0.2;
constexpr char ctrl_c = 3, ctrl_d = 4, escape = 27;

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<TerminalSize> FullScreen::size() { return isatty(STDOUT_FILENO) == 1 ? terminal_of_output() : std::nullopt; }

FullScreen::FullScreen() : size_(size()) {
  termios terminal{};
  if (tcgetattr(STDIN_FILENO, &terminal) == 0) {
    original_ = terminal;
    terminal.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    terminal.c_cc[VMIN] = 0;
    terminal.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  }
  write_all(enter);
}

FullScreen::~FullScreen() {
  write_all(leave);
  if (original_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*original_);
}

bool FullScreen::show(std::span<const std::string> lines) const {
  std::string text(home);
  for (const auto& line : lines) {
    if (&line != lines.data()) text += "\r\n";
    text += line;
    text += clear_line;
  }
  text += clear_below;
  return write_all(text);
}

FullScreen::Input FullScreen::read_key() {
  std::array<char, 64> keys{};
  const auto count = ::read(STDIN_FILENO, keys.data(), keys.size());
  if (count <= 0) return Input::quit;  // the terminal was closed
  // Escape alone quits. Before other bytes it belongs to the code of an arrow key or another special key.
  if (keys[0] == escape) return count == 1 ? Input::quit : Input::none;
  const auto quits = [](char c) { return c == 'q' || c == 'Q' || c == ctrl_c || c == ctrl_d; };
  return std::any_of(keys.begin(), keys.begin() + count, quits) ? Input::quit : Input::key;
}

FullScreen::Input FullScreen::wait(double seconds) {
  const double until = monotonic_seconds() + seconds;
  for (double left = seconds; left > 0; left = until - monotonic_seconds()) {
    std::array<pollfd, 2> waiting = {pollfd{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                     pollfd{.fd = original_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}};
    poll(waiting.data(), waiting.size(), static_cast<int>(1000 * std::min(left, size_check_interval_s)) + 1);
    for (int signal = signals_.take(); signal != 0; signal = signals_.take())
      if (signal != SIGCHLD) return Input::quit;
    if (waiting[1].revents != 0)
      if (const auto input = read_key(); input != Input::none) return input;
    if (const auto now = size(); now != size_) {
      size_ = now;
      return now ? Input::resized : Input::quit;
    }
  }
  return Input::none;
}

}  // namespace trainrt::cli
