#pragma once
#include <memory>

#include "comm/backend.hpp"

namespace trainrt::comm {

/// Assigns GPUs to each rank according to the options, and replaces `communicator` by one that also reduces GPU memory.
/// Collective.
/// - The new communicator uses the requested GPU backend, or the best one. The choice and the reasons are logged.
/// - A rank communicates on its first GPU, which also becomes the current GPU of the calling thread. world.gpus is set to
///   all GPUs of the rank.
/// - If no rank gets a GPU, `communicator` is not changed.
///
/// Requires that the topology (node numbers) of `world` is complete. Every rank throws device::GpusRefused if the request
/// for GPUs cannot be met, and BackendRefused if the GPU backend requested by name cannot be used; `communicator` is not
/// changed in these cases. `library`: for tests, see GpuRanks.
void put_on_gpus(std::unique_ptr<Communicator>& communicator, World& world, const CommOptions& options,
                 std::string_view library = {});

}  // namespace trainrt::comm
