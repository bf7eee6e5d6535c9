#pragma once
#include <optional>
#include <string>
#include <vector>

#include "batch/restart_decision.hpp"
#include "batch/slurm_job.hpp"
#include "config/run_spec.hpp"
#include "rundir/records/excluded_nodes.hpp"

namespace trainrt::cli {

/// The nodes that a supervised run does without: those of its excluded_nodes.json, to which it adds bad and slow ones
/// (batch/bad_nodes.hpp), each with a line on standard error.
class NodeExclusions {
 public:
  /// `job` must live longer.
  explicit NodeExclusions(const batch::SlurmJob& job) : job_(job) {}

  /// Reads the file anew: a person may have changed it. UsageError if it cannot be read.
  void read(const config::RunSpec& spec);
  bool empty() const { return nodes_.empty(); }

  /// After the newest attempt of the run has ended: adds the node that it ended at, if the run is to do without that. A
  /// file that cannot be read or written is warned of; what was known before holds on.
  void take_end(const config::RunSpec& spec);
  /// Says which of the situation's nodes are excluded, and whether a requeue would bring others.
  void mark(batch::Situation& situation, const std::optional<batch::JobFacts>& facts) const;
  /// Why a further node cannot be left out, as far as can be told before its attempt has ended; "" if it can.
  std::string refusal(batch::Situation situation, const std::optional<batch::JobFacts>& facts,
                      const batch::RestartLimits& limits, int max_nodes) const;
  /// The job is requeued, and gets none of them again; warns if that cannot be had. `before`: the job as it was.
  void pass_on(const std::optional<batch::JobFacts>& before) const;

 private:
  void add(const config::RunSpec& spec, rundir::ExcludedNode node);

  const batch::SlurmJob& job_;
  std::vector<rundir::ExcludedNode> nodes_;
};

}  // namespace trainrt::cli
