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

#include "core/output/output_file.hpp"
#include "core/output/output_tail.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/terminal_writer.hpp"

namespace trainrt {

/// Reads what is written to a standard output and a standard error from pipes: all of it goes into the log, some to the
/// terminal (OutputPlan), and the end of it is kept. If both are shown in different places each has a pipe, and the log
/// has them in the order in which they are read; else one pipe keeps the order of the writes. Memory is bounded: who
/// writes faster than log and terminal take it waits.
class OutputReader {
 public:
  /// Makes the pipes. Throws Error if they cannot be had.
  explicit OutputReader(const OutputPlan& plan);
  /// Reads what is there, and closes the pipes: who still has the other end gets EPIPE.
  ~OutputReader();
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  enum class Writer {
    child,         ///< has the ends to write to already: begin() closes them here
    this_process,  ///< keeps them; the log gets its title with the first output
  };
  /// The ends to write to, until begin() if a child has them; closed on exec.
  int output_end() const { return sources_.front().write_end; }
  int error_end() const { return sources_.back().write_end; }
  /// Starts to read. The log gets a line with `title`.
  void begin(const std::string& title, Writer writer = Writer::child);

  /// What is read from here on goes into that file, and so does what OutputPlan::holds_log has held back. The file gets a
  /// line with `title`. Any thread but the one that reads.
  void lead_to(std::string log, std::string title);
  /// So much is held back that nothing is read any more until lead_to(). Any thread.
  bool is_full() const { return is_full_; }

  /// Waits until what is in the pipes now is in the log and on the terminal; false if that takes longer. Any thread but the
  /// one that reads; async-signal-safe.
  bool settle(double limit_s) const;
  /// The same, and returns the end of the output.
  std::string tail(double limit_s = 2);
  /// The end of what is in the log: how many bytes of `room` have it. Async-signal-safe.
  std::size_t end_of_log(std::span<char> room) const { return log_.end(room); }
  /// It is the thread of a reader that asks.
  static bool is_this_thread();
  /// How many bytes were read so far. Any thread.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Source {
    int read_end = -1;
    int write_end = -1;
    std::unique_ptr<OutputView> view;
  };
  void add_source(const OutputPlan& plan, int shown_on);
  void close_write_ends();
  void wake() const;
  void read_all();
  void take_next_log();
  bool read_from(Source& source);

  OutputLog log_;
  std::function<void(std::size_t stream, std::string_view bytes)> listener_;
  std::vector<Source> sources_;  ///< one or two
  int wake_ = -1;                ///< an eventfd
  std::vector<char> buffer_;
  std::atomic<bool> is_full_ = false;

  std::mutex mutex_;
  OutputTail tail_;
  struct NextLog {
    std::string path, title;
  };
  std::optional<NextLog> next_log_;
  mutable std::atomic<std::uint64_t> asked_ = 0;  ///< times that somebody asked for all that is there
  std::atomic<std::uint64_t> answered_ = 0;       ///< the last of them that has been answered
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt
