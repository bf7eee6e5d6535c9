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

/// Runs a program and writes a line to its standard input for each report. A thread of this object feeds the program, and
/// restarts it if it exits early, so that add() never waits for it.
///
/// If the program prints a number on a line, it confirms that it has kept all reports up to that number. A restarted
/// program gets all later reports. Until a program has printed a number, all lines that it has read count as kept.
class ProgramFeed {
 public:
  struct ReportLine {
    std::int64_t report;
    std::string text;  ///< including its line break
  };
  struct Setup {
    std::string name;     ///< name in messages: "sink.wandb"
    std::string command;  ///< command for /bin/sh
    Variables environment;
    std::string log;  ///< path of the file that gets the standard error of the program
    std::int64_t kept = 0;
    std::size_t queue = 1000;                                ///< maximum number of lines from add() that wait
    double wait_s = 10;                                      ///< how long end() waits
    std::function<std::string(std::int64_t kept)> greeting;  ///< returns the first line that the program gets
    /// Stores which reports were kept and how many were dropped. Called on this object's thread, at most once a second. May
    /// throw.
    std::function<void(std::int64_t kept, std::int64_t dropped)> note;
  };
  /// `backlog` has the lines of earlier reports, which are all kept until the program has read them.
  ProgramFeed(Setup setup, std::vector<ReportLine> backlog);
  /// Closes the program's input, and kills the program if it has not exited after two seconds.
  ~ProgramFeed();
  ProgramFeed(const ProgramFeed&) = delete;

  /// Adds a line; report numbers must increase. If the queue is full, the line is dropped and counted.
  void add(ReportLine line);
  /// Sends the remaining lines and `last_line`, and waits until the program has exited, for up to `wait_s`; then kills it.
  /// Logs a warning if reports were not kept.
  void end(std::string last_line);

 private:
  struct Sent {
    std::int64_t report;
    std::uint64_t end;  ///< position after the line in the bytes sent to this process
  };

  void run();
  bool is_over();
  void start();
  void send_lines();
  void take_output(const PipedProgram::Received& heard);
  void take_confirmation(const std::string& line);
  void log_errors(const std::string& text);
  void confirm_read_lines();
  void drop_until(std::int64_t report);
  void take_exit(int exit_code);
  void store_position();
  void finish(double limit_s);
  void wake() const;

  const Setup setup_;
  std::atomic<std::int64_t> kept_, dropped_ = 0;

  std::mutex mutex_;              // guards the following members
  std::deque<ReportLine> lines_;  ///< reports after `kept_`; those that were sent to this process come first
  std::size_t of_backlog_;        ///< number of lines at the front that belong to the backlog
  std::string last_line_;
  bool ends_ = false;
  double deadline_ = 0;  ///< for the exit of the program, on the monotonic clock

  // Members that only the function run() on `thread_` uses.
  std::unique_ptr<PipedProgram> program_;
  OutputFile log_;
  std::size_t logged_bytes_ = 0;
  std::deque<Sent> sent_;           ///< lines sent to this process and not confirmed
  std::uint64_t sent_bytes_ = 0;    ///< bytes sent to this process
  std::int64_t kept_at_start_ = 0;  ///< `kept_` at the start of this process
  std::string answer_;              ///< unfinished line of output
  std::string last_error_;
  bool answers_ = false, has_last_line_ = false, is_given_up_ = false, has_warned_ = false;
  double start_at_ = 0, pause_s_, noted_at_ = 0;
  std::int64_t noted_kept_, noted_dropped_ = 0;

  int wake_;
  std::thread thread_;
};

}  // namespace trainrt::metrics
