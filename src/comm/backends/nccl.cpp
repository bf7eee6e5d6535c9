// NCCL between the ranks' GPUs, on top of the best backend for the host. `auto` takes it by itself if it can be had
// (put_on_gpus()); by name it is an order.
#include "comm/backend.hpp"

namespace trainrt::comm::plugins {

extern const Backend nccl;
const Backend nccl{.name = "nccl",
                   .help = "NCCL between the ranks' GPUs; what is on the host goes as it would without it",
                   .preference = 0,  // auto puts it on another by itself
                   .obstacle = [](const launch::Launch&) -> std::string { return ""; },  // put_on_gpus() asks all ranks
                   .open = [](launch::Launch& launch, const CommOptions& options) -> std::unique_ptr<Communicator> {
                     return best_backend(launch).open(launch, options);  // put_on_gpus() puts NCCL on it
                   }};

}  // namespace trainrt::comm::plugins
