// A rank of the communicator contract under mpiexec or srun: prints what is wrong, and the backend that was tested.
#include <cstdio>

#include "comm/backend.hpp"
#include "support/communicator_contract.hpp"

int main() {
  using namespace trainrt;
  const auto launch = launch::discover(Environment::of_process(), {});
  int code = 0;
  {
    const auto communicator = comm::open_communicator(*launch, {.timeout_seconds = 120});
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
