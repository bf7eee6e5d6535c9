// Two ranks that bench_comm.py starts under mpiexec. They time collectives of the backend, those of MPI on other memory,
// and two plain threads that compute the same sum. Each round times a block of calls of each method in turn.
//
//   comm_probe [--backend NAME] [--rounds N] [--block SECONDS] [--sizes BYTES,...]
//
// Rank 0 prints `backend NAME`, and for each series a line `= KIND TREATMENT METHOD BYTES SECONDS...`: the seconds of one
// call on the slower rank, one number per round. Treatments of the memory, the same for all methods of a size:
//   hot      all calls use the same memory without a pause, so that data that fits into the caches stays there
//   written  every rank writes its buffer before each call, like a backward pass; the write is not timed
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <trainrt/error.hpp>

#include "comm/backend.hpp"
#include "comm/mpi/mpi_call.hpp"
#include "core/host.hpp"

using namespace trainrt;
using comm::check_mpi;

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t mlp_bytes = 669'706 * sizeof(float);  // the gradients of the FashionMNIST MLP: 2.68 MB
constexpr int ranks = 2;

struct Options {
  std::string backend;  ///< "": the default backend of a run
  int rounds = 15;
  double block_seconds = 0.02;     ///< length of a block of calls of one method
  std::vector<std::size_t> sizes;  ///< if not empty, only all-reduces of these sizes, in bytes, on hot memory
};

std::vector<std::size_t> sizes_of(const std::string& text) {
  std::vector<std::size_t> sizes;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) sizes.push_back(std::stoul(word));
  return sizes;
}

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string key = words[i];
    if (i + 1 == count) throw UsageError(key + " needs a value");
    const std::string value = words[i + 1];
    if (key == "--backend")
      options.backend = value;
    else if (key == "--rounds")
      options.rounds = std::stoi(value);
    else if (key == "--block")
      options.block_seconds = std::stod(value);
    else if (key == "--sizes")
      options.sizes = sizes_of(value);
    else
      throw UsageError("no such option: " + key);
  }
  return options;
}

// --- the two threads ----------------------------------------------------------------------------------------------------

/// A barrier for two threads: the first one spins until the other arrives.
class SpinBarrier {
 public:
  void meet() {
    const auto turn = turn_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
      arrived_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      return;
    }
    while (turn_.load(std::memory_order_acquire) == turn) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> turn_{0};
};

/// Stores the sum of `a` and `b` in both. Uses the widest vector instructions of the CPU.
#if defined(__x86_64__)
__attribute__((optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
__attribute__((optimize("O3")))
#endif
void sum_into_both(float* __restrict a, float* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] = a[i] + b[i];
}

// --- memory -------------------------------------------------------------------------------------------------------------

/// Allocates ordinary memory, page-aligned and touched.
Memory plain_memory(std::size_t bytes) {
  const auto room = (bytes + 4095) / 4096 * 4096;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, room));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, room);
  return Memory(memory, [](std::byte* p) { std::free(p); });
}

/// Fills `memory` with small integers. Those of the two ranks add up to zero, so that repeated sums neither overflow nor
/// become denormal.
void write(const Memory& memory, std::size_t count, int rank) {
  auto* values = reinterpret_cast<float*>(memory.get());
  for (std::size_t i = 0; i < count; ++i) values[i] = (rank == 0 ? 1.0f : -1.0f) * static_cast<float>(i % 1021 + 1);
}

// --- blocks of calls ----------------------------------------------------------------------------------------------------

enum class Treatment { hot, written };

/// One implementation of a collective.
struct Method {
  std::string name;
  std::function<double(int calls, Treatment)> seconds;  ///< seconds of `calls` calls on this rank; collective
};

/// Returns a method that both ranks call. `fill` writes the buffer: once, or before each call if the treatment is
/// `written`.
Method by_ranks(std::string name, std::function<void()> call, std::function<void()> fill) {
  return {std::move(name), [call = std::move(call), fill = std::move(fill)](int calls, Treatment treatment) {
            const bool each_time = treatment == Treatment::written;
            double seconds = 0;
            fill();
            for (int done = 0; done < calls; done += each_time ? 1 : calls) {
              if (each_time) fill();
              check_mpi(MPI_Barrier(MPI_COMM_WORLD));
              const auto start = monotonic_seconds();
              for (int i = 0; i < (each_time ? 1 : calls); ++i) call();
              seconds += monotonic_seconds() - start;
            }
            return seconds;
          }};
}

/// Waits for the other rank, and sleeps meanwhile so that the core is free for that rank.
void sleep_until_both_are_here() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (int done = 0; done == 0;) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    const timespec pause{0, 1'000'000};
    if (done == 0) nanosleep(&pause, nullptr);
  }
}

/// Two plain threads of rank 0 with one buffer each. Between two barriers, each adds one half of the buffers and stores the
/// sum in both. This is the limit of the hardware for an all-reduce.
Method by_two_threads(std::size_t bytes, int rank) {
  const auto count = bytes / sizeof(float);
  std::vector<Memory> buffers;
  for (int thread = 0; rank == 0 && thread < ranks; ++thread) buffers.push_back(plain_memory(bytes));
  return {"two_threads", [=](int calls, Treatment treatment) {
            double seconds = 0;
            SpinBarrier barrier;
            const auto thread = [&](int me) {
              const auto half = count / ranks;
              const auto first = me == 0 ? 0 : half;
              auto* const a = reinterpret_cast<float*>(buffers[0].get()) + first;
              auto* const b = reinterpret_cast<float*>(buffers[1].get()) + first;
              for (int i = 0; i < calls; ++i) {
                if (i == 0 || treatment == Treatment::written) write(buffers[static_cast<std::size_t>(me)], count, me);
                barrier.meet();
                const auto start = monotonic_seconds();
                sum_into_both(a, b, me == 0 ? half : count - half);
                barrier.meet();
                if (me == 0) seconds += monotonic_seconds() - start;
              }
            };
            if (rank == 0) {
              std::jthread other(thread, 1);
              thread(0);
            }
            sleep_until_both_are_here();
            return seconds;
          }};
}

/// Times all methods in turn in each round, and prints one line per method.
class Comparison {
 public:
  Comparison(const Options& options, int rank) : options_(options), rank_(rank) {}

  void run(const char* kind, std::size_t bytes, const std::vector<Method>& methods, Treatment treatment) const {
    std::vector<std::vector<double>> seconds(methods.size());
    std::vector<int> calls;
    for (const auto& method : methods) calls.push_back(calls_in_block(method, treatment));
    for (int round = 0; round < options_.rounds; ++round)
      for (std::size_t turn = 0; turn < methods.size(); ++turn) {
        const auto which = (turn + static_cast<std::size_t>(round)) % methods.size();
        seconds[which].push_back(seconds_of_call(methods[which], calls[which], treatment));
      }
    for (std::size_t i = 0; i < methods.size(); ++i) print(kind, treatment, methods[i].name, bytes, seconds[i]);
  }

 private:
  /// Returns the seconds per call of the slower rank, the same number on both ranks. Collective.
  static double seconds_of_call(const Method& method, int calls, Treatment treatment) {
    const double mine = method.seconds(calls, treatment);
    double slower = 0;
    check_mpi(MPI_Allreduce(&mine, &slower, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return slower / calls;
  }

  int calls_in_block(const Method& method, Treatment treatment) const {
    constexpr double fewest = 3, most = 20'000;
    seconds_of_call(method, 3, treatment);  // the first calls set up connections and buffers
    return static_cast<int>(std::clamp(options_.block_seconds / seconds_of_call(method, 3, treatment), fewest, most));
  }

  void print(const char* kind, Treatment treatment, const std::string& method, std::size_t bytes,
             const std::vector<double>& seconds) const {
    if (rank_ != 0) return;
    std::printf("= %s %s %s %zu", kind, treatment == Treatment::hot ? "hot" : "written", method.c_str(), bytes);
    for (const double value : seconds) std::printf(" %.6g", value);
    std::printf("\n");
    std::fflush(stdout);
  }

  Options options_;
  int rank_;
};

// --- the collectives ----------------------------------------------------------------------------------------------------

/// Provides the methods for one size, and owns their memory; must outlive the methods.
class Size {
 public:
  Size(Communicator& communicator, std::size_t bytes)
      : communicator_(communicator),
        bytes_(bytes),
        count_(bytes / sizeof(float)),
        counts_{count_ - count_ / 2, count_ / 2},
        mpi_counts_{static_cast<int>(counts_[0]), static_cast<int>(counts_[1])},
        allocated_(communicator.allocate(bytes)),
        allocated_part_(communicator.allocate(bytes)),
        plain_(plain_memory(bytes)),
        plain_part_(plain_memory(bytes)) {}

  std::vector<Method> all_reduce() {
    const auto ours = [this](const Memory& memory) {
      return [this, &memory] { communicator_.all_reduce(buffer(memory), Op::sum); };
    };
    const auto mpi = [this](const void* from, const Memory& to) {
      return
          [this, from, &to] { check_mpi(MPI_Allreduce(from, to.get(), mpi_count(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD)); };
    };
    check_sum(allocated_, ours(allocated_));
    check_sum(plain_, ours(plain_));
    return {by_ranks("allocated", ours(allocated_), writes(allocated_)),
            by_ranks("mpi_in_place", mpi(MPI_IN_PLACE, plain_), writes(plain_)),
            by_two_threads(bytes_, communicator_.rank()),
            by_ranks("mpi_out_of_place", mpi(plain_.get(), plain_part_), writes(plain_)),
            by_ranks("ordinary", ours(plain_), writes(plain_))};
  }

  std::vector<Method> reduce_scatter() {
    return {by_ranks(
                "allocated",
                [this] { communicator_.reduce_scatter(buffer(allocated_), counts_, allocated_part_.get(), Op::sum); },
                writes(allocated_)),
            by_ranks(
                "mpi",
                [this] {
                  check_mpi(MPI_Reduce_scatter(plain_.get(), plain_part_.get(), mpi_counts_.data(), MPI_FLOAT, MPI_SUM,
                                               MPI_COMM_WORLD));
                },
                writes(plain_))};
  }

  std::vector<Method> all_gather() {
    return {by_ranks(
                "allocated", [this] { communicator_.all_gather(allocated_part_.get(), counts_, buffer(allocated_)); },
                writes(allocated_part_)),
            by_ranks(
                "mpi",
                [this] {
                  const int offsets[ranks] = {0, mpi_counts_[0]};
                  const auto mine = mpi_counts_[static_cast<std::size_t>(communicator_.rank())];
                  check_mpi(MPI_Allgatherv(plain_part_.get(), mine, MPI_FLOAT, plain_.get(), mpi_counts_.data(), offsets,
                                           MPI_FLOAT, MPI_COMM_WORLD));
                },
                writes(plain_part_))};
  }

  std::vector<Method> broadcast() {
    return {by_ranks(
                "allocated", [this] { communicator_.broadcast(buffer(allocated_), 0); }, writes(allocated_)),
            by_ranks(
                "mpi", [this] { check_mpi(MPI_Bcast(plain_.get(), mpi_count(), MPI_FLOAT, 0, MPI_COMM_WORLD)); },
                writes(plain_))};
  }

 private:
  Buffer buffer(const Memory& memory) const { return {memory.get(), count_, DType::f32}; }
  int mpi_count() const { return static_cast<int>(count_); }
  std::function<void()> writes(const Memory& memory) {
    return [this, &memory] { write(memory, count_, communicator_.rank()); };
  }

  /// Throws if the all-reduce gives a wrong sum, because its time would then be meaningless.
  void check_sum(const Memory& memory, const std::function<void()>& all_reduce) const {
    auto* values = reinterpret_cast<float*>(memory.get());
    for (std::size_t i = 0; i < count_; ++i) values[i] = static_cast<float>((i % 1021 + 1) * (communicator_.rank() + 1u));
    all_reduce();
    for (std::size_t i = 0; i < count_; ++i)
      if (values[i] != static_cast<float>((i % 1021 + 1) * 3))
        throw Error("all_reduce of " + std::to_string(bytes_) + " bytes: element " + std::to_string(i) + " is wrong");
  }

  Communicator& communicator_;
  std::size_t bytes_, count_;
  std::vector<std::size_t> counts_;
  std::vector<int> mpi_counts_;
  Memory allocated_, allocated_part_, plain_, plain_part_;
};

void compare_all(Communicator& communicator, const Options& options) {
  const Comparison comparison(options, communicator.rank());
  for (const auto bytes : options.sizes) {
    Size size(communicator, bytes);
    comparison.run("all_reduce", bytes, size.all_reduce(), Treatment::hot);
  }
  if (!options.sizes.empty()) return;
  for (const auto bytes : {std::size_t{8}, std::size_t{64}, kib, 8 * kib, 64 * kib, mib, mlp_bytes, 25 * mib, 128 * mib}) {
    Size size(communicator, bytes);
    comparison.run("all_reduce", bytes, size.all_reduce(), Treatment::hot);
    if (bytes >= mlp_bytes) comparison.run("all_reduce", bytes, size.all_reduce(), Treatment::written);
  }
  for (const auto bytes : {kib, 64 * kib, mlp_bytes, 25 * mib}) {
    Size size(communicator, bytes);
    comparison.run("reduce_scatter", bytes, size.reduce_scatter(), Treatment::hot);
    comparison.run("all_gather", bytes, size.all_gather(), Treatment::hot);
    comparison.run("broadcast", bytes, size.broadcast(), Treatment::hot);
  }
}

}  // namespace

int main(int count, char** words) {
  const auto launch = launch::discover(Environment::of_process(), {});
  try {
    const auto options = read_options(count, words);
    const auto communicator = comm::open_communicator(*launch, {.timeout_seconds = 300, .backend = options.backend});
    if (communicator->size() != ranks) throw UsageError("comm_probe runs on 2 ranks");
    if (communicator->rank() == 0) std::printf("backend %s\n", std::string(communicator->name()).c_str());
    compare_all(*communicator, options);
    communicator->barrier();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comm_probe: %s\n", error.what());
    launch->abort(1);
    return 1;
  }
  launch->finalize();
  return 0;
}
