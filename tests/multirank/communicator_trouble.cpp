// One rank under mpiexec, where rank 1 skips a collective or calls it with another size. Prints the error that each rank
// gets.
//   communicator_trouble BACKEND NODES late      rank 1 does not call the all_reduce
//   communicator_trouble BACKEND NODES other     rank 1 calls it with another size, with checked collectives
//   communicator_trouble BACKEND NODES name      prints the name of the backend that was opened
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <string>

#include <trainrt/error.hpp>

#include "comm/backend.hpp"

int main(int argc, char** argv) {
  using namespace trainrt;
  const std::string mode = argc > 3 ? argv[3] : "";
  const auto launch = launch::discover(Environment::of_process(), {});
  std::istringstream nodes(argc > 2 ? argv[2] : "");
  for (std::string node; std::getline(nodes, node, ',');) launch->world().node_of_rank.push_back(std::stoi(node));
  const auto communicator = comm::open_communicator(
      *launch, {.timeout_seconds = mode == "name" ? 60 : 1.0, .backend = argv[1], .check = mode == "other"});
  auto& c = *communicator;
  if (mode == "name") {
    if (c.rank() == 0) std::printf("backend %s\n", std::string(c.name()).c_str());
    const auto memory = c.allocate(1 << 20);
    c.all_reduce(Buffer{memory.get(), 1 << 18, DType::f32}, Op::sum);
    c.barrier();
    return 0;
  }
  c.at_step(c.rank() == 1 ? 3 : 5);
  c.barrier();
  std::printf("rank %d: has met the others\n", c.rank());
  std::fflush(stdout);
  if (mode == "late" && c.rank() == 1) {
    sleep(8);
    _exit(0);
  }
  try {
    std::vector<float> values(mode == "other" && c.rank() == 1 ? 8 : 9);
    c.all_reduce(values, Op::sum, "bucket 1");
    std::printf("rank %d: all is well\n", c.rank());
  } catch (const Error& error) {
    std::printf("rank %d: %s\n", c.rank(), error.what());
  }
  std::fflush(stdout);
  sleep(mode == "late" ? 3 : 1);  // mpiexec ends all ranks as soon as one exits
  _exit(0);
}
