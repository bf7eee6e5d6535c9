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

/// Copies the current progress and times of an attempt from its `meter` into its record.
void fill_from_meter(AttemptRecord& record, const Meter& meter);

/// The ownership of a run directory by this process, rank 0 of an attempt.
///
/// Each attempt gets the next attempt number. Its private directory and its record are created exclusively, so that only
/// one of several processes that start at the same time gets a number. The private directory is created first, so that a
/// process that sees the record can fence the attempt off, by taking the directory away (io/files/fenced_directory.hpp).
///
/// While the object lives, a thread writes heartbeats at least every 10 s, at the first step, and after each commit of a
/// checkpoint. A heartbeat sets the record's modification time (mtime) to now and writes the meter's values to the
/// heartbeat file.
class Attempt {
 public:
  /// Claims the next attempt number, and fences off all older attempts (io/files/fenced_directory.hpp), so that only this
  /// attempt can change the run directory afterwards. Also records the end of earlier attempts that have not recorded it
  /// themselves; for this, only the last record and those of attempts with a heartbeat file are read.
  ///
  /// `ranks`, `nodes`, `accepts_missing` (AttemptRecord::accepted_missing) and `bits` are stored in the new record. `meter`
  /// must outlive this object. Throws RunIsOwned if the last attempt's owner is alive, and StorageError if an older attempt
  /// cannot be fenced off.
  Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter, bool accepts_missing = false,
          BitFacts bits = {});
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  int number() const { return record_.number; }
  /// Returns the object through which this attempt must write all its files in the run directory.
  const io::FencedDirectory& files() const { return files_; }
  /// Stops the heartbeats and writes the end of the attempt into its record, with the last values of the meter.
  /// `blamed_node`: the node that caused the end; "" if no node is known to be the cause.
  void end(const std::string& why, int exit_code, std::int64_t last_step, const std::string& blamed_node = "");
  /// Sets the mistake in the train function (AttemptRecord::mistake) that end() records.
  void set_mistake(const Mistake& mistake) { record_.mistake = mistake; }

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
