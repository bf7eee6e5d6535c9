#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/fenced_directory.hpp"
#include "trainer/meter.hpp"
#include "trainer/owner.hpp"
#include "trainer/timing.hpp"

namespace trainrt::trainer {

/// One line of a run's history: attempts/000003.json. While it runs, attempts/000003.pulse beside it holds the numbers of
/// its last sign of life: readers see them here.
struct AttemptRecord {
  int number = 0;
  Owner owner;
  int ranks = 0;
  std::vector<std::string> nodes;
  std::string start;   ///< UTC; of rank 0's process
  std::string end;     ///< UTC; "" while it runs, or where it was killed and nobody has noticed yet
  std::string why;     ///< why it ended: "finished", "stopped by SIGUSR1", "failed: ...", "killed: ..."
  int exit_code = -1;  ///< -1 = nobody saw one
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t saved_step = -1;  ///< of its newest committed checkpoint, or of the one that it began from; -1 = none
  std::int64_t iteration = 0;
  Timing timing;
  std::string seen;  ///< UTC; its last sign of life with these numbers; "" where it has left none
};

/// The newest so many attempts of a run, oldest first. Unreadable records are left out.
std::vector<AttemptRecord> read_attempts(const std::string& run_dir,
                                         std::size_t newest = std::numeric_limits<std::size_t>::max());

/// True where an attempt without an end can be shown to run still (is_alive()).
bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt);

/// "running" (no end), "finished", "stopped", "failed" or "killed".
std::string_view state_of(const AttemptRecord& attempt);

/// Why an attempt of `gone` wrote no end, as far as `me`, its successor, can tell: "killed: it wrote no end (...)".
std::string why_without_end(const Owner& gone, const Owner& me);

/// "000003"
std::string attempt_name(int number);

/// Writes the end of an attempt into its record: by any rank, when it takes the step down.
void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step);

/// Writes the end of an attempt that could not do it itself (it was killed), as somebody else saw it, with the numbers of
/// its last sign of life. Does nothing where the record has an end, or does not exist.
void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code);

/// Adds what an attempt could not know of its own end: "stopped by SIGTERM" becomes "stopped by SIGTERM (preemption)".
void note_cause(const std::string& run_dir, int number, const std::string& cause);

/// Holds the run directory for this process, on one rank. Its number grows with every attempt; its private directory and
/// its record are created exclusively: of two that start at once, one gets it. The private directory comes first, so that
/// whoever sees the record of an attempt can fence it off. While it lives a thread touches the record and writes the
/// meter's numbers beside it: every 10 s (more often while it is young), at the first step, and after every commit.
class Attempt {
 public:
  /// Claims the next number, and fences off all older attempts (io/fenced_directory.hpp): what is in the run directory
  /// when it returns changes no more but by this attempt. Earlier attempts that wrote no end get one; of the old records
  /// only the last is read, and those that have no end. Throws UsageError where the last attempt's owner is alive, and
  /// StorageError where an older one cannot be fenced off. `meter` must live longer than this.
  Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  int number() const { return record_.number; }
  /// The run directory, for everything that this attempt writes there.
  const io::FencedDirectory& files() const { return files_; }
  /// Writes why and where it ended, with the meter's last numbers.
  void end(const std::string& why, int exit_code, std::int64_t last_step);

 private:
  std::optional<AttemptRecord> claim();
  void beat();
  void write_pulse() const;
  void take_reading(AttemptRecord& record) const;
  void stop_heart();

  io::FencedDirectory files_;
  Meter& meter_;
  AttemptRecord record_;
  std::thread heart_;
};

}  // namespace trainrt::trainer
