#pragma once
#include <span>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// The replicated tensors of a state that hold anything, by name: in the same order on every rank.
std::vector<const TensorEntry*> replicated_tensors(const State& state);

/// Gives every rank what rank 0 holds of these replicated tensors, of any type, on the host or on a GPU. It goes through
/// some megabytes of the host's memory, whatever the tensors' size. Collective: the tensors are the same on all ranks
/// (require_alike() tells). One that is said to lie on a GPU and does not is an Error on all ranks.
void broadcast_replicas(std::span<const TensorEntry* const> tensors, Communicator& communicator);

}  // namespace trainrt::checkpoint
