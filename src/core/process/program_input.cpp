#include "core/process/program_input.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/process/ignored_signal.hpp"
#include "core/process/spawn.hpp"
#include "core/process/thread.hpp"

namespace trainrt {

namespace {

constexpr std::size_t block_bytes = 1 << 16;

[[noreturn]] void throw_refused(const std::string& action) {
  throw Error(fmt::format("{} failed: {}", action, std::generic_category().message(errno)));
}

int open_null() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool is_null_device(const struct stat& found) {
  constexpr unsigned memory_devices = 1, null = 3;
  return S_ISCHR(found.st_mode) && major(found.st_rdev) == memory_devices && minor(found.st_rdev) == null;
}

/// Waits until the descriptor `fd` is ready for the poll(2) events `events` or has failed; returns true. Returns false if
/// the descriptor `wake` becomes readable first.
bool is_ready(int fd, short events, int wake) {
  for (;;) {
    std::array<pollfd, 2> ready{{{.fd = fd, .events = events, .revents = 0}, {.fd = wake, .events = POLLIN, .revents = 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return false;
    if (ready[1].revents != 0) return false;
    if (ready[0].revents != 0) return true;
  }
}

}  // namespace

InputKind input_kind() {
  struct stat found {};
  if (fstat(STDIN_FILENO, &found) != 0 || isatty(STDIN_FILENO) != 0 || S_ISDIR(found.st_mode) || is_null_device(found))
    return InputKind::none;
  return S_ISREG(found.st_mode) ? InputKind::file : InputKind::stream;
}

/// Copies standard input into one pipe after the other, one for each program, in a thread.
class ProgramInput::Feed {
 public:
  Feed() {
    if (!wake_) throw_refused("making a pipe");
    ignore_signal_here(SIGPIPE);  // a program may end before it has read its complete input
  }
  ~Feed() { stop(); }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  int next_pipe() {
    stop();
    if (is_lost_)
      throw UsageError(
          fmt::format("the program cannot be started again: it had more than {} MiB of standard input from a pipe, "
                      "which cannot be read twice. Write the input into a file, and start the same command with < FILE",
                      max_kept_bytes >> 20));
    Pipe pipe;
    if (!pipe) throw_refused("making a pipe");
    fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK);
    thread_ = thread_without_signals([this, number = pipe.write_end.release()] {
      const Descriptor output(number);
      if (write_all(number, kept_)) copy_to(number);
    });
    return pipe.read_end.release();
  }

 private:
  void stop() {
    if (!thread_.joinable()) return;
    const char any = 0;
    static_cast<void>(!write(wake_.write_end.get(), &any, 1));
    thread_.join();
    char taken = 0;
    static_cast<void>(!read(wake_.read_end.get(), &taken, 1));
  }

  /// Writes `bytes` to `output`, the pipe to a program's standard input. Returns false if the program has closed its
  /// standard input or stop() was called.
  bool write_all(int output, std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!is_ready(output, POLLOUT, wake_.read_end.get())) return false;
      const auto written = write(output, bytes.data(), bytes.size());
      if (written < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  void copy_to(int output) {
    std::array<char, block_bytes> block{};
    while (!is_at_end_) {
      if (!is_ready(STDIN_FILENO, POLLIN, wake_.read_end.get())) return;
      const auto count = read(STDIN_FILENO, block.data(), block.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      is_at_end_ = count <= 0;
      if (is_at_end_) return;
      const std::string_view bytes(block.data(), static_cast<std::size_t>(count));
      keep(bytes);
      if (!write_all(output, bytes)) return;
    }
  }

  void keep(std::string_view bytes) {
    if (!is_lost_ && kept_.size() + bytes.size() <= max_kept_bytes) {
      kept_ += bytes;
      return;
    }
    is_lost_ = true;
    kept_ = {};
  }

  Pipe wake_;
  std::thread thread_;
  // While the thread that copies standard input runs, only this thread may use the following members.
  std::string kept_;
  bool is_lost_ = false;  ///< whether the stream was longer than max_kept_bytes, so that it cannot be repeated
  bool is_at_end_ = false;
};

ProgramInput::ProgramInput() : kind_(input_kind()) {
  if (kind_ == InputKind::file) begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (kind_ == InputKind::stream) feed_ = std::make_unique<Feed>();
}

ProgramInput::~ProgramInput() = default;

int ProgramInput::open() {
  if (kind_ == InputKind::stream) return feed_->next_pipe();
  if (kind_ == InputKind::file) lseek(STDIN_FILENO, begin_, SEEK_SET);
  const int input = kind_ == InputKind::file ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open_null();
  if (input < 0) throw_refused("opening the input of a program");
  return input;
}

void drop_input() {
  const Descriptor null(open_null());
  if (null) dup2(null.get(), STDIN_FILENO);
}

std::size_t hold_input(double timeout_s) {
  constexpr std::size_t max_bytes = 64 << 20;
  const Descriptor held(memfd_create("standard input", MFD_CLOEXEC));
  if (!held) throw_refused("making a file in memory for standard input");
  std::array<char, block_bytes> block{};
  std::size_t total = 0;
  for (;;) {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int found = poll(&ready, 1, static_cast<int>(timeout_s * 1000));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0)
      throw UsageError(fmt::format("it is still open, but no data arrived for {:g} s (after {} bytes)", timeout_s, total));
    const auto count = read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    total += static_cast<std::size_t>(count);
    if (total > max_bytes) throw UsageError("it has more than 64 MiB");
    if (write(held.get(), block.data(), static_cast<std::size_t>(count)) != count) throw_refused("holding standard input");
  }
  lseek(held.get(), 0, SEEK_SET);
  dup2(held.get(), STDIN_FILENO);
  return total;
}

}  // namespace trainrt
