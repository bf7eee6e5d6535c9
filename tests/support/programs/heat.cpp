// A simulation with its own main and MPI_Init, written as a user writes one: heat spreads over a plate with rows that are
// distributed over the ranks. The next value of a cell depends on its neighbours only, so that the bits do not depend on
// the number of ranks.     heat DIRECTORY STEPS rank|node|single [PAUSE_MILLISECONDS [RANK_THAT_ABORTS]]
#include <mpi.h>
#include <trainrt/trainrt.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t rows = 61, columns = 47, save_every = 5;

/// This rank's rows of the plate, with one more row above and below.
class Plate {
 public:
  Plate(int rank, int size)
      : rank_(rank), size_(size), first_(rows * rank / size), count_(rows * (rank + 1) / size - first_) {
    now_.assign(static_cast<std::size_t>((count_ + 2) * columns), 0.0);
    for (std::int64_t row = 0; row < count_; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        at(row, column) = static_cast<double>(((first_ + row) * 7919 + column * 104729) % 1000) / 7;
    next_ = now_;
  }

  void describe(trainrt::State& state) {
    state.tensor("plate/temperature", {&at(0, 0), trainrt::DType::f64, {count_, columns}}).sharded(0, first_, rows);
  }

  void step() {
    const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    const int below = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&at(0, 0), columns, MPI_DOUBLE, above, 0, &at(count_, 0), columns, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&at(count_ - 1, 0), columns, MPI_DOUBLE, below, 0, &at(-1, 0), columns, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::int64_t row = 0; row < count_; ++row)
      for (std::int64_t column = 0; column < columns; ++column) next_[index(row, column)] = cooled(row, column);
    for (std::int64_t row = 0; row < count_; ++row)  // in place, because the State refers to this memory
      for (std::int64_t column = 0; column < columns; ++column) at(row, column) = next_[index(row, column)];
  }

  double hottest() {
    double most = 0;
    for (std::int64_t row = 0; row < count_; ++row)
      for (std::int64_t column = 0; column < columns; ++column) most = std::max(most, at(row, column));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }

 private:
  static std::size_t index(std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>((row + 1) * columns + column);
  }
  double& at(std::int64_t row, std::int64_t column) { return now_[index(row, column)]; }

  double cooled(std::int64_t row, std::int64_t column) {
    const auto whole_row = first_ + row;
    if (whole_row == 0 || whole_row == rows - 1 || column == 0 || column == columns - 1) return at(row, column);
    const double upright = at(row - 1, column) + at(row + 1, column);
    const double level = at(row, column - 1) + at(row, column + 1);
    return at(row, column) + 0.2 * ((upright + level) - 4 * at(row, column));
  }

  int rank_, size_;
  std::int64_t first_, count_;
  std::vector<double> now_, next_;
};

void simulate(const std::string& directory, std::int64_t steps, const std::string& files, int pause_ms, int aborting) {
  const auto communicator = trainrt::mpi_communicator();
  Plate plate(communicator->rank(), communicator->size());
  std::int64_t step = 0;

  trainrt::State state;
  plate.describe(state);
  state.value("step", step);

  trainrt::CheckpointStoreOptions options;
  options.files = files == "rank"   ? trainrt::FileLayout::rank
                  : files == "node" ? trainrt::FileLayout::node
                                    : trainrt::FileLayout::single;
  options.num_to_keep = 3;
  trainrt::CheckpointStore store(directory, *communicator, options);
  const auto restored = store.restore(state);
  if (restored && communicator->rank() == 0)
    std::printf("restored step %ld of %d ranks\n", static_cast<long>(step), restored->ranks);

  while (step < steps) {
    plate.step();
    if (++step == save_every && communicator->rank() == aborting) MPI_Abort(MPI_COMM_WORLD, 9);
    if (step % save_every == 0 || step == steps) store.save(state, {{"hottest", plate.hottest()}});
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
  const auto last = store.wait();
  if (last && communicator->rank() == 0) std::printf("step %ld in %s\n", static_cast<long>(step), last->directory.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HEAT_UNPREPARED") == nullptr) trainrt::prepare_mpi();
  MPI_Init(&argc, &argv);
  try {
    simulate(argv[1], std::atol(argv[2]), argv[3], argc > 4 ? std::atoi(argv[4]) : 0, argc > 5 ? std::atoi(argv[5]) : -1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  if (finalized != 0) std::fprintf(stderr, "heat: somebody else finalized MPI\n");
  MPI_Finalize();
  return finalized;
}
