#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/framework_meeting.hpp>

#include "batch/lease.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/datasets/node_shares.hpp"
#include "trainer/events/callbacks.hpp"
#include "trainer/saving/auto_interval.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"

namespace trainrt::trainer {

/// The checkpoints that were there when an attempt began. The same on all ranks.
struct EarlierCheckpoints {
  std::vector<std::int64_t> listed;  ///< their numbers, ascending; damaged ones too
  std::int64_t next = 0;             ///< a number that none has, listed or known by a record
};

using MeetFramework = std::function<FrameworkMeeting(Context& ctx, const std::string& framework)>;

/// What the numbers of an attempt are tied to.
struct AttemptInfo {
  int number = 0;
  std::string run_id;
  std::string private_dir;
  rundir::Meter& meter;  ///< lives longer than the session
  Callbacks& callbacks;  ///< lives longer than the session
  EarlierCheckpoints earlier;
  FailureHistory history;               ///< of the attempts before, for checkpoint.every = auto; rank 0's counts
  const batch::Lease* lease = nullptr;  ///< of the job, on the rank that watches it
  std::string metadata = "{}";          ///< a JSON object that every checkpoint carries
  int workers = 0;    ///< of an elastic run: that a global batch is made for; 0: as many as there are ranks
  Listings datasets;  ///< of all [data.NAME]
  NodeShares shares;
  std::vector<std::string> hosts = {};  ///< of each rank, for messages
  MeetFramework framework = {};         ///< Context::framework()
  CheckpointMirror* mirror = nullptr;   ///< of rank 0, if there is one; lives longer than the session
  bool is_run = true;                   ///< false: a prediction or a check; nothing is trained, saved or reported
};

}  // namespace trainrt::trainer
