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

/// Checks that replicated tensors are equal on all ranks. Checks at every checkpoint, and after every
/// checkpoint.replica_check_every steps. If tensors differ, throws AgreedError, or logs one warning per tensor if config
/// key checkpoint.replica_check is `warn`. The message has the tensors, the ranks and the last step at which the tensors
/// were equal. Does nothing with one rank.
class ReplicaWatch {
 public:
  ReplicaWatch(const config::RunSpec& spec, Communicator& communicator) : spec_(spec), communicator_(communicator) {}

  /// Starts the checks at step `step`, at which the replicated tensors of `state` are equal. `state` must outlive this
  /// object.
  void begin(const State& state, std::int64_t step);

  /// Returns the comparison that the save of a checkpoint at step `step` makes. Empty if checks are off.
  checkpoint::Saver::Comparison comparison(std::int64_t step);
  bool is_due_at(std::int64_t step) const;
  /// Compares all replicated tensors at step `step`. Called if is_due_at() returns true. Collective.
  void compare_all(std::int64_t step);

 private:
  void judge(const std::vector<checkpoint::ReplicaCheck::DifferingTensor>& differing, std::int64_t step) const;

  const config::RunSpec& spec_;
  Communicator& communicator_;
  std::optional<checkpoint::ReplicaCheck> check_;
  std::int64_t began_at_ = 0;
};

}  // namespace trainrt::trainer
