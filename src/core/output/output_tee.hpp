#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "core/output/output_file.hpp"
#include "core/output/output_tail.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/terminal_writer.hpp"
#include "core/process/spawn.hpp"

namespace trainrt {

/// Copies the output of a process to the destinations that an OutputTargets names (log file, terminal, callback), and
/// keeps the last bytes in memory. A thread of this object reads the output from pipes.
///
/// If standard output and standard error are shown on different terminals or files, each has its own pipe. The log then
/// contains their bytes in the order in which they are read. Otherwise one pipe carries both and preserves the order of
/// the writes.
///
/// Memory is bounded: a process blocks if it writes faster than log and terminal accept the output.
class OutputTee {
 public:
  /// Creates the pipes for the output of a process. Throws Error if the system has no pipe left.
  explicit OutputTee(const OutputTargets& targets);
  /// Reads the rest of the output and closes the pipes. A process that writes to a pipe later gets EPIPE.
  ~OutputTee();
  OutputTee(const OutputTee&) = delete;
  OutputTee& operator=(const OutputTee&) = delete;

  /// The process that writes its output to the pipes.
  enum class Writer {
    /// A child process, which has inherited the write ends of the pipes. begin() closes the write ends in this process.
    child,
    /// This process, which keeps the write ends open. The log gets its title line with the first output.
    this_process,
  };
  /// Descriptors of the pipes' write ends for standard output and standard error, closed on exec. With Writer::child, valid
  /// until begin().
  int output_end() const { return sources_.front().pipe.write_end.get(); }
  int error_end() const { return sources_.back().pipe.write_end.get(); }
  /// Starts the thread that reads the output. Writes a title line with `title` to the log.
  void begin(const std::string& title, Writer writer = Writer::child);

  /// Continues the log in the file `log`: writes a line with `title`, then the output that was buffered without a log
  /// (OutputTargets::holds_log), then all later output. Must not be called from the reading thread; any other thread may
  /// call it.
  void switch_file(std::string log, std::string title);
  /// Returns whether reading of the output is suspended until switch_file() names the log: the buffer for output without a
  /// log (OutputTargets::holds_log) is full. Thread-safe.
  bool is_full() const { return is_full_; }

  /// Waits until log and terminal have received all output that is in the pipes now. Returns false if that takes longer
  /// than `limit_s` seconds. Must not be called from the reading thread; any other thread may call it. Async-signal-safe.
  bool drain(double limit_s) const;
  /// Waits until all output so far has been read, at most `limit_s` seconds, then returns the last bytes of the output, as
  /// OutputTail::text() does.
  std::string tail(double limit_s = 2);
  /// Copies the tail of the log file, at most room.size() bytes, into `room`; returns the number of bytes copied.
  /// Async-signal-safe.
  std::size_t copy_end(std::span<char> room) const { return log_.copy_end(room); }
  /// Sets whether the terminal shows the output that is read from now on. The log and the tail contain all output.
  /// Thread-safe.
  void show(bool is_shown) { is_shown_ = is_shown; }
  /// Returns whether the calling thread is the thread with which some OutputTee reads its pipes.
  static bool is_reading_thread();
  /// Returns the number of bytes of output read so far. Thread-safe.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Source {
    Pipe pipe;
    std::unique_ptr<TerminalWriter> terminal;
  };
  void add_source(const OutputTargets& targets, int shown_on);
  void close_write_ends();
  void wake() const;
  void read_all();
  void take_next_file();
  bool read_from(Source& source);

  OutputFile log_;
  std::function<void(std::size_t stream, std::string_view bytes)> listener_;
  std::vector<Source> sources_;  ///< one pipe for both streams, or one for each
  Descriptor wake_;              ///< an eventfd that wakes the reading thread
  std::vector<char> buffer_;
  std::atomic<bool> is_full_ = false;
  std::atomic<bool> is_shown_ = true;

  std::mutex mutex_;  ///< protects the members `tail_` and `next_file_`
  OutputTail tail_;
  struct NextFile {
    std::string path, title;
  };
  std::optional<NextFile> next_file_;
  mutable std::atomic<std::uint64_t> drains_asked_ = 0;
  std::atomic<std::uint64_t> drains_done_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::thread thread_;  // declared last: the reading thread uses the other members
};

}  // namespace trainrt
