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

/// Watches that the ranks' replicas stay the same: at every checkpoint, and every checkpoint.replica_check_every steps. A
/// difference names tensors, ranks and the step since when; checkpoint.replica_check says whether that is an AgreedError,
/// or a warning, once a tensor. With one rank it does nothing.
class ReplicaWatch {
 public:
  ReplicaWatch(const config::RunSpec& spec, Communicator& communicator) : spec_(spec), communicator_(communicator) {}

  /// The replicas are the same now, at this step. The state must outlive this object.
  void begin(const State& state, std::int64_t step);

  /// What a checkpoint of this step compares.
  checkpoint::Saver::Comparison comparison(std::int64_t step);
  bool is_due_at(std::int64_t step) const;
  /// Compares everything; the state is up to date. Collective.
  void compare_all(std::int64_t step);

 private:
  void judge(const std::vector<checkpoint::ReplicaCheck::DifferingTensor>& differing, std::int64_t step) const;

  const config::RunSpec& spec_;
  Communicator& communicator_;
  std::optional<checkpoint::ReplicaCheck> check_;
  std::int64_t began_at_ = 0;
};

}  // namespace trainrt::trainer
