#include "program/environments/framework_environment.hpp"
#include "program/services/pmi_service.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> mpi_variables(const Rendezvous& rendezvous, std::span<const int>) {
  const auto socket = rendezvous.sockets.find("mpi");
  if (socket == rendezvous.sockets.end()) return {};
  return {{"PMI_FD", std::to_string(socket->second)},
          {"PMI_RANK", std::to_string(rendezvous.rank)},
          {"PMI_SIZE", std::to_string(rendezvous.size)},
          {"MPI_LOCALRANKID", std::to_string(rendezvous.local_rank)},
          {"MPI_LOCALNRANKS", std::to_string(rendezvous.local_size)}};
}

std::unique_ptr<Service> mpi_service(const Rendezvous& rendezvous, std::span<const int> ports, Descriptor listener) {
  return std::make_unique<PmiService>(rendezvous, ports[0], std::move(listener));
}

}  // namespace

extern const FrameworkEnvironment mpi;
const FrameworkEnvironment mpi{
    .name = "mpi",
    .help = "PMI_FD, PMI_RANK, PMI_SIZE: one MPI_COMM_WORLD of all ranks, for programs linked against MPICH, and mpi4py",
    .ports_of = PortsOf::first_rank,
    .variables = mpi_variables,
    .serve = mpi_service};

}  // namespace trainrt::program::plugins
