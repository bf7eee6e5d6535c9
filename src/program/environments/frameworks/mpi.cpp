#include "program/environments/framework_environment.hpp"
#include "program/services/pmi_service.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> mpi_variables(const Meeting& meeting, std::span<const int>) {
  const auto socket = meeting.sockets.find("mpi");
  if (socket == meeting.sockets.end()) return {};
  return {{"PMI_FD", std::to_string(socket->second)},
          {"PMI_RANK", std::to_string(meeting.rank)},
          {"PMI_SIZE", std::to_string(meeting.size)},
          {"MPI_LOCALRANKID", std::to_string(meeting.local_rank)},
          {"MPI_LOCALNRANKS", std::to_string(meeting.local_size)}};
}

std::unique_ptr<Service> mpi_service(const Meeting& meeting, std::span<const int> ports, Descriptor listener) {
  return std::make_unique<PmiService>(meeting, ports[0], std::move(listener));
}

}  // namespace

extern const FrameworkEnvironment mpi;
const FrameworkEnvironment mpi{
    .name = "mpi",
    .help = "PMI_FD, PMI_RANK, PMI_SIZE: MPI_COMM_WORLD of all ranks for programs with MPICH, mpi4py built against it too",
    .ports_of = PortsOf::first_rank,
    .variables = mpi_variables,
    .serve = mpi_service};

}  // namespace trainrt::program::plugins
