#include "core/output/terminal.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/output/standard_streams.hpp"
#include "core/process/processes.hpp"

namespace trainrt {

namespace {

std::atomic<bool> last_row_taken{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::optional<TerminalSize> size_of_terminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 2) return std::nullopt;
  return TerminalSize{size.ws_row, size.ws_col};
}

/// Returns whether standard output is a pipe or a socket. The process that reads it may show the output on a terminal.
bool output_is_piped() {
  struct stat info {};
  return fstat(standard_output(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

/// Returns the process id of the mpiexec that started this process, directly or by its proxy processes (MPICH's
/// hydra_pmi_proxy). Returns 0 if another process is in between, such as a shell, which may have redirected the output.
int mpiexec_above() {
  constexpr int max_generations = 4;
  int pid = getppid();
  for (int i = 0; i < max_generations && pid > 1; ++i) {
    const auto name = status_value(pid, "Name:");
    if (name.starts_with("mpiexec") || name.starts_with("mpirun")) return pid;
    if (name.find("pmi_proxy") == std::string::npos) return 0;
    pid = std::atoi(status_value(pid, "PPid:").c_str());
  }
  return 0;
}

std::optional<TerminalSize> terminal_of_mpiexec() {
  const int pid = output_is_piped() ? mpiexec_above() : 0;
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

// `\0337` and `\0338` save and restore the cursor position. `\033[r` resets the scrolling region to the complete screen.

std::string take(TerminalSize size) {
  // Index (\033D) and reverse index (\033M) move the cursor down and up again. If it was in the last row, the text scrolls
  // up, which frees the last row. The cursor's position is saved, because setting the scrolling region moves the cursor.
  return fmt::format("\033D\033M\0337\033[1;{}r\0338", size.rows - 1);
}

std::string show(TerminalSize size, std::string_view text) {
  return fmt::format("\0337\033[{};1H{}\033[K\0338", size.rows, text);
}

std::string give_back(TerminalSize size) { return fmt::format("\0337\033[r\033[{};1H\033[K\0338", size.rows); }

void note_taken(bool taken) { last_row_taken = taken; }

void restore_at_exit() {
  if (!last_row_taken.exchange(false)) return;
  constexpr std::string_view reset = "\0337\033[r\0338";
  if (write(standard_output(), reset.data(), reset.size()) < 0) return;  // the failure cannot be reported
}

}  // namespace last_row

}  // namespace trainrt
