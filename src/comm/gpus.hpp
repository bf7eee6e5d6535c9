#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/nccl/api.hpp"

namespace trainrt::comm {

/// Gives each rank its GPUs (scaling.gpus_per_worker) and puts on the communicator of the host what reduces their memory:
/// NCCL, or the way through the host if ranks share a GPU or NCCL is missing; says which and why. Completes world.gpus;
/// a rank communicates on its first one, which is also what libraries take by themselves in the calling thread. If no
/// rank gets a GPU the communicator stays as it is.
///
/// scaling.backend = nccl is an order, and what stands in its way a UsageError, as is a request for GPUs that are not
/// there; another backend's name keeps NCCL away. Collective, as are its errors: they leave the communicator as it is. The
/// world's topology is complete.
void put_on_gpus(std::unique_ptr<Communicator>& communicator, World& world, const CommOptions& options,
                 std::string_view nccl_library = nccl::library_name);

}  // namespace trainrt::comm
