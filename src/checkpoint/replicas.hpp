#pragma once
#include <span>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// Returns the replicated tensors of a state that are not empty, sorted by name. The state must outlive the result.
std::vector<const TensorEntry*> replicated_tensors(const State& state);

/// Copies the values of replicated tensors from rank 0 to all ranks, in host or GPU memory. Uses 8 MiB of host memory for
/// any size of tensors. All ranks must pass the same tensors (require_alike() checks that). Throws Error on all ranks if a
/// tensor is declared as GPU memory but is not. Collective.
void broadcast_replicas(std::span<const TensorEntry* const> tensors, Communicator& communicator);

}  // namespace trainrt::checkpoint
