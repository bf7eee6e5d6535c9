// A simulation with its own main and its own MPI: heat spreads along a rod; its cells are divided among the ranks. It
// saves every 100 steps and continues from the newest checkpoint, on any number of ranks.
//   mpicxx.mpich -O2 own_main.cpp $(pkg-config --cflags --libs trainrt) -o heat
//   mpiexec.mpich -n 2 ./heat checkpoints 1000        (or: srun --mpi=pmix ./heat ...; or alone: ./heat ...)
#include <mpi.h>
#include <trainrt/trainrt.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::int64_t cells = 1000;

/// This rank's cells, with a copy of the neighbour's cell at either end.
struct Rod {
  Rod(int rank, int size)
      : below(rank > 0 ? rank - 1 : MPI_PROC_NULL),
        above(rank + 1 < size ? rank + 1 : MPI_PROC_NULL),
        first(cells * rank / size),
        count(cells * (rank + 1) / size - first),
        heat(static_cast<std::size_t>(count) + 2) {
    for (std::int64_t i = 0; i < count; ++i) at(i) = first + i < cells / 2 ? 1.0 : 0.0;
  }

  double& at(std::int64_t i) { return heat[static_cast<std::size_t>(i + 1)]; }

  void step() {
    MPI_Sendrecv(&at(0), 1, MPI_DOUBLE, below, 0, &at(count), 1, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&at(count - 1), 1, MPI_DOUBLE, above, 0, &at(-1), 1, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (below == MPI_PROC_NULL) at(-1) = at(0);
    if (above == MPI_PROC_NULL) at(count) = at(count - 1);
    double left = at(-1);
    for (std::int64_t i = 0; i < count; ++i) {
      const double here = at(i);
      at(i) += 0.25 * (left - 2 * here + at(i + 1));
      left = here;
    }
  }

  int below, above;
  std::int64_t first, count;
  std::vector<double> heat;
};

void simulate(const char* directory, std::int64_t steps) {
  const auto ranks = trainrt::mpi_communicator();
  Rod rod(ranks->rank(), ranks->size());
  std::int64_t step = 0;

  trainrt::State state;  // refers to the rod's memory; copies nothing
  state.tensor("heat", {&rod.at(0), trainrt::DType::f64, {rod.count}}).sharded(0, rod.first, cells);
  state.value("step", step);

  trainrt::CheckpointStoreOptions options;
  options.num_to_keep = 3;
  trainrt::CheckpointStore store(directory, *ranks, options);
  if (const auto found = store.restore(state); found && ranks->rank() == 0)
    std::printf("continuing from step %lld, saved by %d ranks\n", static_cast<long long>(step), found->ranks);
  while (step < steps) {
    rod.step();
    if (++step % 100 == 0 || step == steps) store.save(state);  // returns when the state may change
  }
  store.wait();  // the last checkpoint is committed; must precede MPI_Finalize
  if (ranks->rank() == 0) std::printf("step %lld\n", static_cast<long long>(step));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: heat DIRECTORY STEPS\n"), 64;
  trainrt::prepare_mpi();  // before MPI_Init, which then finds the ranks of srun --mpi=pmix
  MPI_Init(&argc, &argv);
  try {
    simulate(argv[1], std::atoll(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
