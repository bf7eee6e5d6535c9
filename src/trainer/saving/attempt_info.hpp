#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/framework_meeting.hpp>

#include "batch/lease.hpp"
#include "rundir/attempts/meter.hpp"
#include "rundir/records/bit_facts.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/datasets/node_shares.hpp"
#include "trainer/events/callbacks.hpp"
#include "trainer/saving/auto_interval.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"

namespace trainrt::trainer {

/// The checkpoints of a run at the start of an attempt. All ranks have equal values.
struct EarlierCheckpoints {
  std::vector<std::int64_t> listed;  ///< numbers of the checkpoints in the run directory, damaged ones included, ascending
  std::int64_t next = 0;             ///< number for the next checkpoint; no listed or recorded checkpoint has this number
};

/// Function that starts the services of a framework and returns the settings of this rank, for Context::framework().
using MeetFramework = std::function<FrameworkMeeting(Context& ctx, const std::string& framework)>;

/// The parameters of one attempt of a run, or of a prediction or check. References and pointers must outlive the Session.
struct AttemptInfo {
  int number = 0;
  std::string run_id;
  std::string private_dir;  ///< private directory of this attempt
  rundir::Meter& meter;
  Callbacks& callbacks;
  EarlierCheckpoints earlier;
  FailureHistory history;               ///< failures of earlier attempts, for checkpoint.every = auto; used on rank 0
  const batch::Lease* lease = nullptr;  ///< time left in the job, on the rank that watches the job; otherwise nullptr
  std::string metadata = "{}";          ///< JSON object that every checkpoint contains
  rundir::BitFacts bits = {};           ///< facts that every checkpoint contains; libraries are added by the restore
  int workers = 0;                      ///< number of workers of a global batch; 0: one worker per rank
  Listings datasets;                    ///< listings of all [data.NAME] sections
  NodeShares shares;
  std::vector<std::string> hosts = {};  ///< host name of each rank, for messages
  MeetFramework framework = {};
  /// calls AttemptRecorder::accept_config() on rank 0; called on all ranks when the State was restored
  std::function<void(bool is_resumed)> accept_config = {};
  CheckpointMirror* mirror = nullptr;  ///< mirror of the run, on rank 0 if the config has one; otherwise nullptr
  bool is_run = true;                  ///< false for a prediction or a check, which does not train, save or report
};

}  // namespace trainrt::trainer
