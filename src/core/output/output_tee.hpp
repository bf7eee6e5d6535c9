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

/// Reads a standard output and a standard error from pipes, in a thread of its own, and copies them to the log file and the
/// terminal of OutputTargets; keeps the end of the output. If the two are shown in different places, each has its own pipe
/// and the log has them in the order in which they are read; else one pipe keeps the order of the writes. Memory is
/// bounded: a process that writes faster than log and terminal accept it blocks.
class OutputTee {
 public:
  /// Makes the pipes. Throws Error if the system has no pipe left.
  explicit OutputTee(const OutputTargets& targets);
  /// Reads the rest of the pipes and closes them. A process that still has the other end gets EPIPE.
  ~OutputTee();
  OutputTee(const OutputTee&) = delete;
  OutputTee& operator=(const OutputTee&) = delete;

  /// The process that writes to the pipes.
  enum class Writer {
    child,         ///< has inherited the write ends: begin() closes them in this process
    this_process,  ///< keeps the write ends; the log gets its title with the first output
  };
  /// Descriptors of the write ends, closed on exec. Valid until begin() if a child writes.
  int output_end() const { return sources_.front().pipe.write_end.get(); }
  int error_end() const { return sources_.back().pipe.write_end.get(); }
  /// Starts to read. The log gets a line with `title`.
  void begin(const std::string& title, Writer writer = Writer::child);

  /// Writes all that is read from now on to the file `log`, after a line with `title`, and the bytes that
  /// OutputTargets::holds_log has held. Any thread but the reading one may call it.
  void switch_file(std::string log, std::string title);
  /// Returns whether so much is held that nothing more is read before switch_file(). Any thread may call it.
  bool is_full() const { return is_full_; }

  /// Waits until log and terminal have all that is in the pipes now. Returns false if that takes longer than `limit_s`
  /// seconds. Any thread but the reading one may call it; async-signal-safe.
  bool drain(double limit_s) const;
  /// Calls drain() and returns the end of the output.
  std::string tail(double limit_s = 2);
  /// Copies the end of the log into `room` and returns its number of bytes. Async-signal-safe.
  std::size_t copy_end(std::span<char> room) const { return log_.copy_end(room); }
  /// Returns whether the calling thread is the reading one of any OutputTee.
  static bool is_reading_thread();
  /// Returns the number of bytes read so far. Any thread may call it.
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
  std::vector<Source> sources_;  ///< one or two
  Descriptor wake_;              ///< an eventfd
  std::vector<char> buffer_;
  std::atomic<bool> is_full_ = false;

  std::mutex mutex_;  ///< guards `tail_` and `next_file_`
  OutputTail tail_;
  struct NextFile {
    std::string path, title;
  };
  std::optional<NextFile> next_file_;
  mutable std::atomic<std::uint64_t> drains_asked_ = 0;
  std::atomic<std::uint64_t> drains_done_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt
