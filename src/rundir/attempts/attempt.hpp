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

/// Copies the current numbers of a meter into a record.
void fill_from_meter(AttemptRecord& record, const Meter& meter);

/// The ownership of a run directory by this process, rank 0 of an attempt.
///
/// Each attempt gets the next number. Its private directory and its record are created exclusively, so only one of several
/// processes that start at once gets the number. The private directory is created first, so that a process that sees the
/// record can fence the attempt off.
///
/// While the object lives, a thread writes heartbeats: it touches the record and writes the meter's numbers to the
/// heartbeat file, at least every 10 s, at the first step, and after every commit.
class Attempt {
 public:
  /// Claims the next attempt number, and fences off all older attempts (io/files/fenced_directory.hpp), so that only this
  /// attempt can change the run directory afterwards. Writes an end into records of earlier attempts that lack it; only the
  /// last record and those with a heartbeat file are read.
  ///
  /// `ranks` and `nodes` are recorded. `meter` must outlive this object. `accepts_missing` is recorded as
  /// AttemptRecord::accepted_missing. Throws RunIsOwned if the last attempt's owner is alive, and StorageError if an older
  /// attempt cannot be fenced off.
  Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter,
          bool accepts_missing = false);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  int number() const { return record_.number; }
  /// Returns the run directory through which this attempt must write all its files.
  const io::FencedDirectory& files() const { return files_; }
  /// Writes the end of the attempt into its record, with the meter's last numbers: the reason, the exit code, the last
  /// step, and the node that is to blame, if known. Stops the heartbeats.
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
