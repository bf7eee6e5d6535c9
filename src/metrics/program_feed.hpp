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

/// A program that gets a line for each report. A thread of this object's own feeds it, starts it again if it dies, and
/// tells it where it was: whatever the program does, add() does not wait.
///
/// A program that prints a number in a line says that it has kept the reports up to that one: if it is started again it
/// gets all after it. Of one that has printed none, what it has read counts as kept.
class ProgramFeed {
 public:
  struct Line {
    std::int64_t report;
    std::string text;  ///< with its line break
  };
  struct Setup {
    std::string name;     ///< for messages: "sink.wandb"
    std::string command;  ///< for /bin/sh
    Variables environment;
    std::string log;  ///< the file that gets what it writes to standard error
    std::int64_t kept = 0;
    std::size_t queue = 1000;                                ///< how many lines wait for it, of those that add() brings
    double wait_s = 10;                                      ///< how long end() waits
    std::function<std::string(std::int64_t kept)> greeting;  ///< the line that it gets first
    /// Takes note of what it has kept, on this object's thread, once a second at most; may throw.
    std::function<void(std::int64_t kept, std::int64_t dropped)> note;
  };
  /// `backlog`: the lines of reports that were before, which all wait for it.
  ProgramFeed(Setup setup, std::vector<Line> backlog);
  /// Kills it if it has not ended two seconds after its input did.
  ~ProgramFeed();
  ProgramFeed(const ProgramFeed&) = delete;

  /// Numbers rise. Drops and counts the line if the program is so far behind that the queue is full.
  void add(Line line);
  /// Waits until it has read all and this line and has ended, for wait_s at most, and kills it then. Says what it has not
  /// got.
  void end(std::string last_line);

 private:
  struct Sent {
    std::int64_t report;
    std::uint64_t end;  ///< in the bytes that this start of the program was sent
  };

  void run();
  bool is_over();
  void start();
  void send_lines();
  void hear(const PipedProgram::Received& heard);
  void take_answer(const std::string& line);
  void keep_errors(const std::string& text);
  void take_what_was_read();
  void forget_until(std::int64_t report);
  void take_end(int exit_code);
  void take_note();
  void finish(double limit_s);
  void wake() const;

  const Setup setup_;
  std::atomic<std::int64_t> kept_, dropped_ = 0;

  std::mutex mutex_;        // of these
  std::deque<Line> lines_;  ///< after kept_, those that the program has been sent first
  std::size_t of_backlog_;  ///< how many of them, at their front
  std::string last_line_;
  bool ends_ = false;
  double deadline_ = 0;  ///< of the end, on the monotonic clock

  // The thread's.
  std::unique_ptr<PipedProgram> program_;
  OutputFile log_;
  std::size_t logged_bytes_ = 0;
  std::deque<Sent> sent_;           ///< lines that are not kept, for this start
  std::uint64_t sent_bytes_ = 0;    ///< to this start
  std::int64_t kept_at_start_ = 0;  ///< of this start
  std::string answer_;              ///< a line of the program's that is not whole
  std::string last_error_;
  bool answers_ = false, has_last_line_ = false, is_given_up_ = false, has_warned_ = false;
  double start_at_ = 0, pause_s_, noted_at_ = 0;
  std::int64_t noted_kept_, noted_dropped_ = 0;

  int wake_;
  std::thread thread_;
};

}  // namespace trainrt::metrics
