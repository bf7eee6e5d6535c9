#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/replica_check.hpp"
#include "checkpoint/save/saver.hpp"
#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Checks that replicated tensors are equal on all ranks, at every checkpoint and every checkpoint.replica_check_every
/// steps. A difference is an AgreedError or, if checkpoint.replica_check is `warn`, one warning per tensor, with tensors,
/// ranks and the last step at which they were equal. Does nothing with one rank.
class ReplicaWatch {
 public:
  ReplicaWatch(const config::RunSpec& spec, Communicator& communicator) : spec_(spec), communicator_(communicator) {}

  /// Starts the checks at a step at which the replicas are equal. `state` must outlive this object.
  void begin(const State& state, std::int64_t step);

  /// Returns the comparison that the checkpoint of this step makes; empty if there are no checks.
  checkpoint::Saver::Comparison comparison(std::int64_t step);
  bool is_due_at(std::int64_t step) const;
  /// Compares all replicated tensors at this step. Called when is_due_at() is true. Collective.
  void compare_all(std::int64_t step);

 private:
  void judge(const std::vector<checkpoint::ReplicaCheck::DifferingTensor>& differing, std::int64_t step) const;

  const config::RunSpec& spec_;
  Communicator& communicator_;
  std::optional<checkpoint::ReplicaCheck> check_;
  std::int64_t began_at_ = 0;
};

}  // namespace trainrt::trainer
