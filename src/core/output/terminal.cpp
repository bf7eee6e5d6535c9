#include "core/output/terminal.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/output/standard_streams.hpp"

namespace trainrt {

namespace {

std::atomic<bool> last_row_taken{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::optional<TerminalSize> size_of_terminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 2) return std::nullopt;
  return TerminalSize{size.ws_row, size.ws_col};
}

/// A line of /proc/PID/status; "" if there is none.
std::string status_of(int pid, std::string_view key) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return line.substr(std::min(line.size(), line.find_first_not_of(" \t", key.size())));
  return {};
}

/// Standard output is a pipe or a socket: somebody may read it who passes it on.
bool output_is_read() {
  struct stat info {};
  return fstat(standard_output(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

/// The mpiexec that started this process by itself or by its own proxies (MPICH's hydra_pmi_proxy); 0 if there is none. A
/// shell in between may have sent the output elsewhere.
int mpiexec_above() {
  constexpr int most_generations = 4;
  int pid = getppid();
  for (int i = 0; i < most_generations && pid > 1; ++i) {
    const auto name = status_of(pid, "Name:");
    if (name.starts_with("mpiexec") || name.starts_with("mpirun")) return pid;
    if (name.find("pmi_proxy") == std::string::npos) return 0;
    pid = std::atoi(status_of(pid, "PPid:").c_str());
  }
  return 0;
}

std::optional<TerminalSize> terminal_of_mpiexec() {
  const int pid = output_is_read() ? mpiexec_above() : 0;
  if (pid == 0) return std::nullopt;
  const auto link = fmt::format("/proc/{}/fd/1", pid);
  std::error_code error;
  const auto target = std::filesystem::read_symlink(link, error).string();
  if (error || !(target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"))) return std::nullopt;
  const int fd = open(link.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const auto size = size_of_terminal(fd);
  close(fd);
  return size;
}

}  // namespace

std::optional<TerminalSize> terminal_of_output() {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::string_view(kind).empty() || std::string_view(kind) == "dumb") return std::nullopt;
  return isatty(standard_output()) == 1 ? size_of_terminal(standard_output()) : terminal_of_mpiexec();
}

namespace last_row {

std::string take(TerminalSize size) {
  // Index and reverse index: there is a row below the cursor now. Setting the region moves the cursor: it is saved
  // meanwhile.
  return fmt::format(
      "\x1b"
      "D\x1bM\x1b"
      "7\x1b[1;{}r\x1b"
      "8",
      size.rows - 1);
}

std::string show(TerminalSize size, std::string_view text) {
  return fmt::format(
      "\x1b"
      "7\x1b[{};1H{}\x1b[K\x1b"
      "8",
      size.rows, text);
}

std::string give_back(TerminalSize size) {
  return fmt::format(
      "\x1b"
      "7\x1b[r\x1b[{};1H\x1b[K\x1b"
      "8",
      size.rows);
}

void note_taken(bool taken) { last_row_taken = taken; }

void give_back_at_exit() {
  if (!last_row_taken.exchange(false)) return;
  constexpr std::string_view whole_screen =
      "\x1b"
      "7\x1b[r\x1b"
      "8";
  if (write(standard_output(), whole_screen.data(), whole_screen.size()) < 0) return;  // there is nobody to tell
}

}  // namespace last_row

}  // namespace trainrt
