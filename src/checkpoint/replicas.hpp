#pragma once
#include <span>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// Returns the non-empty replicated tensors of `state`, sorted by name. The result points into `state`, which must outlive
/// it.
std::vector<const TensorEntry*> replicated_tensors(const State& state);

/// Broadcasts the contents of replicated tensors, in host or GPU memory, from rank 0 to all ranks. Uses 8 MiB of host
/// memory, however large the tensors are. All ranks must pass the same tensors (require_alike() checks that). Throws Error
/// on all ranks if a tensor is declared as GPU memory but is not. Collective.
void broadcast_replicas(std::span<const TensorEntry* const> tensors, Communicator& communicator);

}  // namespace trainrt::checkpoint
