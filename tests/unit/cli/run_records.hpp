#pragma once
#include <string>

#include "core/host.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"
#include "support/cpp/scratch.hpp"

namespace trainrt::test {

/// A folder with run directories, for tests of the processes that supervise a run.
class RunRecords {
 public:
  /// Returns the path of the run directory `name`, and creates it.
  std::string run_dir(const std::string& name = "run") const {
    io::make_directories(folder_ / name + "/attempts");
    return folder_ / name;
  }
  void write_run(const rundir::RunRecord& record, const std::string& name = "run") const {
    io::replace_file(run_dir(name) + "/run.json", rundir::to_text(record));
  }
  /// Writes the record of an attempt in job 17, as its ranks do. The record has an end if `why` is not empty.
  void write_attempt(int number, const std::string& why = "", const std::string& name = "run") const {
    rundir::AttemptRecord record;
    record.number = number;
    record.owner.job_id = "17";
    record.owner.host = host_name();
    record.owner.pid = 1;
    record.start = "2026-11-21T12:00:00Z";
    if (!why.empty()) {
      record.end = "2026-11-21T12:30:00Z";
      record.why = why;
      record.exit_code = 70;
    }
    io::replace_file(run_dir(name) + "/attempts/" + rundir::attempt_name(number) + ".json", rundir::to_text(record));
  }
  /// Returns the newest attempt.
  rundir::AttemptRecord newest(const std::string& name = "run") const {
    return rundir::read_attempts(run_dir(name), 1).at(0);
  }

 private:
  Scratch folder_;
};

}  // namespace trainrt::test
