#pragma once
#include <optional>
#include <string>
#include <vector>

#include "batch/restart_decision.hpp"
#include "batch/slurm_job.hpp"
#include "config/run_spec.hpp"
#include "rundir/records/excluded_nodes.hpp"

namespace trainrt::cli {

/// The nodes that a supervised run avoids. They are listed in the run's file excluded_nodes.json. This class adds bad
/// and slow nodes (batch/bad_nodes.hpp), and logs a warning for each node that it adds.
class NodeExclusions {
 public:
  /// `job` must outlive this object.
  explicit NodeExclusions(const batch::SlurmJob& job) : job_(job) {}

  /// Reads the file again, because the user may have changed it. Throws UsageError if it cannot be read.
  void read(const config::RunSpec& spec);
  bool empty() const { return nodes_.empty(); }

  /// Reads the file. If batch::bad_node() blames a node for the end of the run's newest attempt, adds this node. Must
  /// be called after that attempt has ended. If the file cannot be read or written, logs a warning and keeps the nodes
  /// in memory.
  void update_after_attempt(const config::RunSpec& spec);
  /// Marks the excluded nodes in `situation`, the input of batch::decide(). Sets Situation::no_other_nodes to the
  /// reason why a requeue cannot replace these nodes.
  void mark(batch::Situation& situation, const std::optional<batch::JobFacts>& facts) const;
  /// Returns the reason why no further node can be excluded, or "" if one can be excluded. Called before an attempt
  /// starts, so the result depends only on facts that are known then. `max_nodes` is failure.max_excluded_nodes.
  std::string refusal(batch::Situation situation, const std::optional<batch::JobFacts>& facts,
                      const batch::RestartLimits& limits, int max_nodes) const;
  /// Excludes the nodes from the next allocation of the job, which has just been requeued. `before` is the job before
  /// the requeue. Logs a warning if this fails.
  void apply_to_requeued_job(const std::optional<batch::JobFacts>& before) const;

 private:
  void add(const config::RunSpec& spec, rundir::ExcludedNode node);

  const batch::SlurmJob& job_;
  std::vector<rundir::ExcludedNode> nodes_;
};

}  // namespace trainrt::cli
