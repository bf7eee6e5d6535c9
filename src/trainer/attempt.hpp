#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trainer/owner.hpp"

namespace trainrt::trainer {

/// One line of a run's history: attempts/000003.json.
struct AttemptRecord {
  int number = 0;
  Owner owner;
  int ranks = 0;
  std::vector<std::string> nodes;
  std::string start;  ///< UTC
  std::string end;    ///< UTC; "" while it runs, or where it was killed
  std::string why;    ///< why it ended: "finished", "stopped by SIGUSR1", "failed: ..."
  int exit_code = -1;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

/// The attempts of a run, oldest first. Unreadable records are left out.
std::vector<AttemptRecord> read_attempts(const std::string& run_dir);

/// "000003"
std::string attempt_name(int number);

/// Writes the end of an attempt into its record: by any rank, when it takes the step down.
void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step);

/// Writes the end of an attempt that could not do it itself (it was killed), as somebody else saw it. Does nothing where
/// the record has an end, or does not exist.
void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code);

/// Holds the run directory for this process, on one rank. Its number grows by one with every attempt and its record is
/// created exclusively: of two that start at once, one gets it. While it lives a thread touches the record every 10 s.
class Attempt {
 public:
  /// Throws UsageError where the last attempt's owner is alive.
  Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  int number() const { return record_.number; }
  void note_first_step(std::int64_t step) { record_.first_step = step; }
  /// Writes why and where it ended.
  void end(const std::string& why, int exit_code, std::int64_t last_step);

 private:
  void beat();

  std::string path_;
  AttemptRecord record_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool ended_ = false;
  std::thread heart_;
};

}  // namespace trainrt::trainer
