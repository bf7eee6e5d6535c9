// MPI between the ranks. Sums do not use MPI_Allreduce, whose order of additions depends on the layout over nodes: they
// follow the one tree over rank numbers, by recursive doubling for short buffers (Thakur, Rabenseifner, Gropp 2005) and by
// exchange of stretches, local tree and all-gather for long ones. Waits poll MPI_Test, give the core away when they get
// long, and have a limit.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>

#include <sched.h>

#include <trainrt/communicators.hpp>

#include "comm/backend.hpp"
#include "comm/mpi_call.hpp"
#include "comm/reduce.hpp"
#include "core/host.hpp"

namespace trainrt {

namespace comm::plugins {

namespace {

constexpr std::size_t short_bytes = 16384;  // up to here latency counts, above it bytes do
constexpr int reduce_tag = 1;
constexpr int gather_tag = 2;

/// Who ends MPI.
enum class Finalize { with_communicator, by_program };

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(int rank, int size, double timeout_seconds, Finalize finalize)
      : Communicator(rank, size), timeout_seconds_(timeout_seconds), finalize_(finalize) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &vote_comm_));
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
    check_mpi(MPI_Comm_set_errhandler(vote_comm_, MPI_ERRORS_RETURN));
  }

  /// Finalizes MPI when all is well and nobody else does. While an exception flies the other ranks are not there:
  /// MPI_Finalize would hang.
  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() > 0 || broken_) return;
    int finalized = 0;
    if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;  // the program was faster
    if (vote_request_ != MPI_REQUEST_NULL) MPI_Wait(&vote_request_, MPI_STATUS_IGNORE);
    MPI_Comm_free(&vote_comm_);
    MPI_Comm_free(&comm_);
    if (finalize_ == Finalize::with_communicator) MPI_Finalize();
  }

  std::string_view name() const override { return "mpi"; }

  using Communicator::all_reduce;
  void all_reduce(Buffer buffer, Op op) override {
    require_reducible(buffer.dtype);
    if (buffer.bytes() <= short_bytes)
      reduce_short(buffer, op);
    else
      reduce_long(buffer, op);
    if (op == Op::mean) finish_mean(buffer, size());
  }

  void broadcast(Buffer buffer, int root) override {
    for_chunks(buffer, [&](std::byte* data, int bytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ibcast(data, bytes, MPI_BYTE, root, comm_, &request));
      wait({&request, 1}, "broadcast");
    });
  }

  std::vector<std::string> all_gather(std::string_view bytes) override {
    int mine = static_cast<int>(bytes.size());
    std::vector<int> counts(static_cast<std::size_t>(size()));
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_, &request));
    wait({&request, 1}, "all_gather");
    std::vector<int> offsets(counts.size(), 0);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    std::string all(static_cast<std::size_t>(offsets.back() + counts.back()), '\0');
    check_mpi(MPI_Iallgatherv(bytes.data(), mine, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm_,
                              &request));
    wait({&request, 1}, "all_gather");
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < counts.size(); ++i)
      parts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(counts[i])));
    return parts;
  }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm_, &request));
    wait({&request, 1}, "barrier");
  }

  void start_vote(const Vote& mine) override {
    my_vote_ = mine;
    check_mpi(MPI_Iallreduce(my_vote_.data(), vote_.data(), static_cast<int>(vote_.size()), MPI_INT64_T, MPI_MAX,
                             vote_comm_, &vote_request_));
  }
  Vote finish_vote() override {
    wait({&vote_request_, 1}, "stop vote");
    return vote_;
  }

 private:
  /// Recursive doubling in blocks of ranks: at each level a rank exchanges its block's sum with the neighbouring block.
  /// Where the right block is cut short by the number of ranks, its members serve several ranks of the left one.
  void reduce_short(Buffer buffer, Op op) {
    scratch_.resize(buffer.bytes());
    for (int block = 1; block < size(); block *= 2) {
      const int base = rank() / (2 * block) * (2 * block);
      const int right = base + block;
      if (right >= size()) continue;
      const int right_count = std::min(block, size() - right);
      if (rank() < right) {
        const int from = right + (rank() - base) % right_count;
        const bool swap = rank() - base < right_count;
        exchange(buffer, from, swap ? std::vector{from} : std::vector<int>{});
        combine(buffer, scratch_.data(), op);
      } else {
        std::vector<int> to;
        for (int left = rank() - right; left < block; left += right_count) to.push_back(base + left);
        exchange(buffer, to.front(), to);
        std::swap_ranges(scratch_.begin(), scratch_.end(),
                         static_cast<std::byte*>(buffer.data));  // lower block's sum first
        combine(buffer, scratch_.data(), op);
      }
    }
  }

  void exchange(const Buffer& buffer, int from, const std::vector<int>& to) {
    const int bytes = static_cast<int>(buffer.bytes());
    std::vector<MPI_Request> requests(to.size() + 1, MPI_REQUEST_NULL);
    check_mpi(MPI_Irecv(scratch_.data(), bytes, MPI_BYTE, from, reduce_tag, comm_, &requests[0]));
    for (std::size_t i = 0; i < to.size(); ++i)
      check_mpi(MPI_Isend(buffer.data, bytes, MPI_BYTE, to[i], reduce_tag, comm_, &requests[i + 1]));
    wait(requests, "all_reduce", from);
  }

  struct Stretch {
    std::byte* data;
    std::size_t count;
    int bytes;
  };
  Stretch stretch_of(const Buffer& buffer, int owner) const {
    const auto ranks = static_cast<std::size_t>(size());
    const auto first = buffer.count * static_cast<std::size_t>(owner) / ranks;
    const auto count = buffer.count * (static_cast<std::size_t>(owner) + 1) / ranks - first;
    return {static_cast<std::byte*>(buffer.data) + first * size_of(buffer.dtype), count,
            static_cast<int>(count * size_of(buffer.dtype))};
  }

  /// Every rank owns one stretch: it gets that stretch from all, reduces by the tree and hands the result to all.
  void reduce_long(Buffer buffer, Op op) {
    constexpr std::size_t most = std::size_t{1} << 28;  // MPI counts are int: in pieces where it is long
    const auto width = size_of(buffer.dtype);
    if (buffer.bytes() > most) {
      const auto half = buffer.count / 2;
      reduce_long({buffer.data, half, buffer.dtype}, op);
      reduce_long({static_cast<std::byte*>(buffer.data) + half * width, buffer.count - half, buffer.dtype}, op);
      return;
    }
    const auto mine = stretch_of(buffer, rank());
    const auto piece = static_cast<std::size_t>(mine.bytes);
    scratch_.resize(piece * static_cast<std::size_t>(size()));
    std::vector<std::byte*> parts;
    std::vector<MPI_Request> requests;
    for (int other = 0; other < size(); ++other) {
      parts.push_back(other == rank() ? mine.data : scratch_.data() + piece * static_cast<std::size_t>(other));
      if (other == rank()) continue;
      check_mpi(MPI_Irecv(parts.back(), mine.bytes, MPI_BYTE, other, reduce_tag, comm_, &requests.emplace_back()));
      const auto theirs = stretch_of(buffer, other);
      check_mpi(MPI_Isend(theirs.data, theirs.bytes, MPI_BYTE, other, reduce_tag, comm_, &requests.emplace_back()));
    }
    wait(requests, "all_reduce");
    combine_tree(parts, {nullptr, mine.count, buffer.dtype}, op);
    if (parts[0] != mine.data) std::memcpy(mine.data, parts[0], piece);
    requests.clear();
    for (int other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      const auto theirs = stretch_of(buffer, other);
      check_mpi(MPI_Irecv(theirs.data, theirs.bytes, MPI_BYTE, other, gather_tag, comm_, &requests.emplace_back()));
      check_mpi(MPI_Isend(mine.data, mine.bytes, MPI_BYTE, other, gather_tag, comm_, &requests.emplace_back()));
    }
    wait(requests, "all_reduce");
  }

  template <class Function>
  static void for_chunks(Buffer buffer, Function&& function) {
    constexpr std::size_t most = std::size_t{1} << 30;
    auto* data = static_cast<std::byte*>(buffer.data);
    for (std::size_t done = 0; done < buffer.bytes(); done += most)
      function(data + done, static_cast<int>(std::min(most, buffer.bytes() - done)));
  }

  void wait(std::span<MPI_Request> requests, const char* what, int peer = -1) {
    const auto count = static_cast<int>(requests.size());
    const auto start = monotonic_seconds();
    for (int polls = 0;; ++polls) {
      int done = 0;
      check_mpi(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
      if (done != 0) return;
      if (polls < 200) continue;
      sched_yield();  // ranks may share cores: who waits must not keep those from computing that he waits for
      if (polls % 64 != 0) continue;
      const double waited = monotonic_seconds() - start;
      if (waited > 0.005) nap();
      if (waited > timeout_seconds_) give_up(what, peer);
    }
  }

  static void nap() {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }

  [[noreturn]] void give_up(const char* what, int peer) {
    broken_ = true;
    throw Error(fmt::format("{} on rank {} ({}): waited {} s (failure.collective_timeout) for {}", what, rank(),
                            host_name(), timeout_seconds_, peer >= 0 ? fmt::format("rank {}", peer) : "the other ranks"));
  }

  double timeout_seconds_;
  Finalize finalize_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm vote_comm_ = MPI_COMM_NULL;
  MPI_Request vote_request_ = MPI_REQUEST_NULL;
  Vote my_vote_{};
  Vote vote_{};
  std::vector<std::byte> scratch_;
  bool broken_ = false;
};

struct Place {
  int rank = 0;
  int size = 0;
};
Place place_in_world() {
  Place place;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &place.rank));
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &place.size));
  return place;
}

std::unique_ptr<Communicator> open(launch::Launch& launch, const CommOptions& options) {
  launch.before_mpi();
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
  launch.after_mpi();
  const auto [rank, size] = place_in_world();
  const auto& world = launch.world();
  if (size != world.size || rank != world.rank)
    throw UsageError(fmt::format(
        "MPI formed a world of {} (this process is its rank {}), but the launcher '{}' announced rank {} of {}: "
        "this MPI library was not started by that launcher. Start with the mpiexec of the MPI that trainrt is "
        "built with, or with srun --mpi=pmix",
        size, rank, world.launcher, world.rank, world.size));
  return std::make_unique<MpiCommunicator>(rank, size, options.timeout_seconds, Finalize::with_communicator);
}

/// MPI that the program has started.
std::unique_ptr<Communicator> join_world(double timeout_seconds) {
  int initialized = 0;
  int finalized = 0;
  check_mpi(MPI_Initialized(&initialized));
  check_mpi(MPI_Finalized(&finalized));
  if (initialized == 0 || finalized != 0)
    throw UsageError(
        fmt::format("mpi_communicator: MPI {}: call MPI_Init first. Where the program has done so, it is built with "
                    "another MPI than trainrt is",
                    finalized != 0 ? "has been finalized" : "has not been initialized"));
  const auto [rank, size] = place_in_world();
  return std::make_unique<MpiCommunicator>(rank, size, timeout_seconds, Finalize::by_program);
}

}  // namespace

extern const Backend mpi;
const Backend mpi{.name = "mpi",
                  .help = "MPI between the ranks",
                  .preference = 10,
                  .viable = [](const launch::Launch& launch) { return launch.world().size > 1; },
                  .open = open};

}  // namespace comm::plugins

std::unique_ptr<Communicator> mpi_communicator(double timeout_seconds) {
  return comm::plugins::join_world(timeout_seconds);
}

}  // namespace trainrt
