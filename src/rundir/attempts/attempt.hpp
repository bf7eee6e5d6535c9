#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "rundir/attempts/meter.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// The numbers of a meter, read now, in a record.
void take_reading(AttemptRecord& record, const Meter& meter);

/// Holds the run directory for this process, on one rank. Its number grows with every attempt; its private directory and
/// its record are created exclusively: of two that start at once, one gets it. The private directory comes first, so that
/// whoever sees the record of an attempt can fence it off. While it lives a thread touches the record and writes the
/// meter's numbers beside it: every 10 s (more often while it is young), at the first step, and after every commit.
class Attempt {
 public:
  /// Claims the next number, and fences off all older attempts (io/files/fenced_directory.hpp): what is in the run
  /// directory when it returns changes no more but by this attempt. Earlier attempts that wrote no end get one; of the old
  /// records only the last is read, and those that have no end. Throws RunIsOwned if the last attempt's owner is alive, and
  /// StorageError if an older one cannot be fenced off. `meter` must live longer than this. `accepts_missing`:
  /// AttemptRecord::accepted_missing.
  Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter,
          bool accepts_missing = false);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  int number() const { return record_.number; }
  /// The run directory, for everything that this attempt writes there.
  const io::FencedDirectory& files() const { return files_; }
  /// Writes why and where it ended, with the meter's last numbers.
  void end(const std::string& why, int exit_code, std::int64_t last_step, const std::string& blamed_node = "");

 private:
  std::optional<AttemptRecord> claim();
  void pause_between_claims(int tries) const;
  void send_heartbeats();
  void write_heartbeat() const;
  std::string with_cause(const std::string& why) const;
  void stop_heartbeats();

  io::FencedDirectory files_;
  Meter& meter_;
  AttemptRecord record_;
  std::thread heartbeats_;
};

}  // namespace trainrt::rundir
