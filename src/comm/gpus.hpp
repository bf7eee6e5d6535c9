#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/nccl/api.hpp"

namespace trainrt::comm {

/// Gives each rank its GPUs (scaling.gpus_per_worker) and puts on the communicator of the host what reduces their memory:
/// NCCL, or the way through the host where ranks share a GPU or NCCL is missing; says which and why. Completes world.gpus;
/// a rank communicates on its first one. Where no rank gets a GPU the communicator is returned as it is.
///
/// scaling.backend = nccl is an order, and what stands in its way a UsageError, as is a request for GPUs that are not
/// there; another backend's name keeps NCCL away. Collective, as are its errors. The world's topology is complete.
std::unique_ptr<Communicator> with_gpus(std::unique_ptr<Communicator> host, World& world, const CommOptions& options,
                                        std::string_view nccl_library = nccl::library_name);

}  // namespace trainrt::comm
