// Runs the communicator contract on one rank under mpiexec or srun, and prints the backend and the violations found.
//   communicator_contract [BACKEND [NODES [CHECK]]]      NODES: the node of each rank, e.g. "0,0,1"; "" keeps the real
//   nodes
#include <cstdio>
#include <sstream>

#include "comm/backend.hpp"
#include "support/cpp/communicator_contract.hpp"

int main(int argc, char** argv) {
  using namespace trainrt;
  const auto launch = launch::discover(Environment::of_process(), {});
  comm::CommOptions options{.timeout_seconds = 120, .backend = argc > 1 ? argv[1] : "", .check = argc > 3};
  if (argc > 2 && *argv[2] != '\0') {
    launch->world().node_of_rank.clear();
    std::istringstream nodes(argv[2]);
    for (std::string node; std::getline(nodes, node, ',');) launch->world().node_of_rank.push_back(std::stoi(node));
  }
  int code = 0;
  {
    const auto communicator = comm::open_communicator(*launch, options);
    const auto findings = test::communicator_findings(*communicator);
    code = findings.empty() ? 0 : 1;
    if (communicator->rank() == 0 || code != 0)
      std::printf("rank %d of %d over %s: %s\n", communicator->rank(), communicator->size(),
                  std::string(communicator->name()).c_str(), code == 0 ? "contract kept" : findings.c_str());
    communicator->barrier();
  }
  launch->finalize();
  return code;
}
