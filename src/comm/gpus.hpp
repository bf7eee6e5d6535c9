#pragma once
#include <memory>

#include "comm/backend.hpp"

namespace trainrt::comm {

/// Gives each rank the GPUs that the options ask for, and puts on the host's communicator what reduces their memory: the
/// best GPU backend, or the one that is asked for; says which and why. Completes world.gpus; a rank communicates on its
/// first one, which is also what libraries take by themselves in the calling thread. If no rank gets a GPU the communicator
/// stays as it is.
///
/// A GPU backend that is asked for by name is an order, and what stands in its way a BackendRefused; a request for GPUs
/// that are not there is a device::GpusRefused. Collective, as are its errors: they leave the communicator as it is. The
/// world's topology is complete. `library`: for tests, see GpuRanks.
void put_on_gpus(std::unique_ptr<Communicator>& communicator, World& world, const CommOptions& options,
                 std::string_view library = {});

}  // namespace trainrt::comm
