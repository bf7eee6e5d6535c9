#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/output/output_file.hpp"
#include "core/process/piped_program.hpp"

namespace trainrt::metrics {

/// Runs a user's program and writes a line to its standard input for each metric report. A thread of this object feeds the
/// program, and restarts it if it exits early, so add() does not block.
///
/// The program confirms reports by printing a number N on a line: it has stored all reports up to number N. A restarted
/// program receives all unconfirmed reports again. As long as the program has printed no number, a report counts as
/// confirmed once the program has read the report's line from the pipe.
class ProgramFeed {
 public:
  struct ReportLine {
    std::int64_t report;
    std::string text;  ///< line to send, including its newline
  };
  struct Setup {
    std::string name;     ///< name of the program in messages: "sink.wandb"
    std::string command;  ///< command for /bin/sh
    Variables environment;
    std::string log;  ///< path of the log file for the program's standard error
    std::int64_t kept = 0;
    /// Maximum number of report lines from add() that wait for the program's confirmation; further lines are dropped.
    std::size_t queue = 1000;
    double wait_s = 10;  ///< timeout of end(), in seconds
    /// Function that returns the first line to send to the program. `kept` is the number of the last report that the
    /// program has confirmed.
    std::function<std::string(std::int64_t kept)> greeting;
    /// Function that stores the number of the last report that the program has confirmed (`kept`), and the number of
    /// reports that were dropped. Called on the thread of the ProgramFeed, at most once a second and at the end. May throw.
    std::function<void(std::int64_t kept, std::int64_t dropped)> note;
  };
  /// `backlog` has the lines of earlier reports that the program has not confirmed yet. They are not dropped, and do
  /// not count towards Setup::queue.
  ProgramFeed(Setup setup, std::vector<ReportLine> backlog);
  /// Closes the program's standard input, and kills the program if it has not exited after two seconds.
  ~ProgramFeed();
  ProgramFeed(const ProgramFeed&) = delete;

  /// Adds a report's line to the queue of the program; report numbers must increase. If the queue is full, drops the line
  /// and counts it as dropped. Does not block.
  void add(ReportLine line);
  /// Sends the remaining report lines and then `last_line` to the program, and blocks until the program has exited. After
  /// `wait_s`, kills the program. Logs a warning if the program did not confirm all reports.
  void end(std::string last_line);

 private:
  struct Sent {
    std::int64_t report;
    std::uint64_t end;   ///< total number of bytes that were sent to the running process, up to the end of this line
    double read_at = 0;  ///< time at which the program was first seen to have read the line; 0 before
  };

  void run();
  bool is_over();
  void start();
  void send_lines();
  void take_output(const PipedProgram::Received& heard);
  void take_confirmation(const std::string& line);
  void log_errors(const std::string& text);
  /// If the program prints no confirmations: confirms the lines that it read at least `age_s` seconds ago.
  void confirm_read_lines(double age_s);
  void drop_until(std::int64_t report);
  void take_exit(int exit_code);
  void store_position();
  void finish(double limit_s);
  void wake() const;

  const Setup setup_;
  std::atomic<std::int64_t> kept_, dropped_ = 0;

  std::mutex mutex_;  // guards the following members, up to `deadline_`
  /// Report lines that the program has not confirmed yet. Lines that were sent to the running process of the program come
  /// first, then lines that were not sent yet.
  std::deque<ReportLine> lines_;
  std::size_t of_backlog_;  ///< number of lines at the front of `lines_` that were passed to the constructor
  std::string last_line_;
  bool ends_ = false;
  double deadline_ = 0;  ///< time by which the program must have exited, on the monotonic clock

  // Members that only the thread `thread_` uses, in run().
  std::unique_ptr<PipedProgram> program_;
  OutputFile log_;
  std::size_t logged_bytes_ = 0;
  /// Report lines that were sent to the running process of the program, and that it has not confirmed yet.
  std::deque<Sent> sent_;
  std::uint64_t sent_bytes_ = 0;    ///< number of bytes sent to the running process of the program
  std::int64_t kept_at_start_ = 0;  ///< value of `kept_` when the running process of the program was started
  std::string answer_;              ///< last line of the program's output, while it has no newline yet
  std::string last_error_;          ///< last part of the program's standard error
  bool answers_ = false, has_last_line_ = false, is_given_up_ = false, has_warned_ = false;
  bool has_exited_at_end_ = false;  ///< the program has exited after it was sent `last_line_`; also read by end()
  double start_at_ = 0, pause_s_, noted_at_ = 0;
  std::int64_t noted_kept_, noted_dropped_ = 0;

  int wake_;
  std::thread thread_;
};

}  // namespace trainrt::metrics
