// The ranks of a node reduce in one shared-memory window; the first rank of each node exchanges with those of the others
// over MPI. Sums follow the one tree over rank numbers: a node adds up the whole subtrees that it holds, and only their
// sums travel, so that ranks laid out in blocks pay nothing for the fixed order.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/backend.hpp"
#include "comm/colors.hpp"
#include "comm/leader_exchange.hpp"
#include "comm/reduce.hpp"
#include "comm/shared_communicator.hpp"
#include "comm/shared_segment.hpp"
#include "comm/start_mpi.hpp"
#include "core/files/shared_file.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"

namespace trainrt::comm::plugins {

namespace {

/// What allocate() has given out. A window stays mapped until all ranks have given it back: others may still reduce in it.
class Windows : public Segments {
 public:
  Memory add(SharedSegment segment) {
    const auto at = static_cast<std::size_t>(segment.index) * segment.slice;
    auto* const mine = segment.memory.get() + at;
    auto given_back = std::make_shared<std::atomic<bool>>(false);  // the owner may drop it on any thread
    windows_.push_back({segment.memory, mine, segment.slice, given_back});
    auto end = [given_back, memory = std::move(segment.memory), file = segment.file] { given_back->store(true); };
    return Memory(mine, FileMemoryEnd{{*segment.file, at, segment.slice}, std::move(end)});
  }

  /// Unmaps the windows that all ranks have given back. Collective.
  void reclaim(Communicator& communicator) {
    std::string mine;
    for (const auto& window : windows_) mine += window.memory == nullptr || window.given_back->load() ? '1' : '0';
    for (const auto& theirs : communicator.all_gather(mine))
      for (std::size_t id = 0; id < mine.size(); ++id)
        if (theirs[id] == '0') mine[id] = '0';
    for (std::size_t id = 0; id < mine.size(); ++id)
      if (mine[id] == '1') windows_[id].memory.reset();
  }

  std::optional<Place> find(const void* data, std::size_t bytes) const override {
    const auto* at = static_cast<const std::byte*>(data);
    for (std::uint32_t id = 0; id < windows_.size(); ++id) {
      const auto& window = windows_[id];
      if (window.memory == nullptr || window.given_back->load(std::memory_order_relaxed)) continue;
      if (at >= window.mine && at + bytes <= window.mine + window.slice)
        return Place{Place::Kind::direct, id, static_cast<std::uint64_t>(at - window.memory.get())};
    }
    return std::nullopt;
  }
  std::byte* at(const Place& place) const override { return windows_[place.segment].memory.get() + place.offset; }

 private:
  struct Window {
    Memory memory;  ///< from the node's first rank's slice on; nullptr once it is unmapped
    std::byte* mine = nullptr;
    std::size_t slice = 0;
    std::shared_ptr<std::atomic<bool>> given_back;
  };
  std::vector<Window> windows_;
};

/// A collective that MPI carries out between all ranks.
class Delegated : public Awaited {
 public:
  Delegated(MpiCommunicator& mpi, const Collective& c) : mpi_(mpi), ticket_(mpi.start(c)), waiting_(mpi.roll_call()) {}
  bool ready() override { return mpi_.test(ticket_); }
  void sleep(double most_seconds) override { waiting_.sleep(most_seconds); }
  std::string missing() override { return waiting_.missing(); }

 private:
  MpiCommunicator& mpi_;
  Communicator::Ticket ticket_;
  MpiRequests waiting_;
};

/// Ready at once, when it is this collective's turn.
class Turn : public Awaited {
 public:
  bool ready() override { return true; }
  void sleep(double) override {}
  std::string missing() override { return "nobody"; }
};

std::vector<int> ranks_here(std::span<const int> node_of_rank, int rank) {
  std::vector<int> ranks;
  for (std::size_t other = 0; other < node_of_rank.size(); ++other)
    if (node_of_rank[other] == node_of_rank[static_cast<std::size_t>(rank)]) ranks.push_back(static_cast<int>(other));
  return ranks;
}

class NodeCommunicator : public SharedCommunicator {
 public:
  NodeCommunicator(std::unique_ptr<MpiCommunicator> mpi, std::vector<int> node_of_rank, SharedSegment segment)
      : SharedCommunicator(Board(segment.memory.get(), segment.index, ranks_here(node_of_rank, mpi->rank())),
                           ranks_here(node_of_rank, mpi->rank()), mpi->size(), mpi->timeout_seconds()),
        mpi_(std::move(mpi)),
        board_memory_(std::move(segment.memory)),
        node_of_rank_(std::move(node_of_rank)),
        nodes_(*std::ranges::max_element(node_of_rank_) + 1) {
    for (const auto& subtree : whole_subtrees(ranks_here(node_of_rank_, rank()), size()))
      sums_at_.push_back(index_of(subtree.first));
    if (nodes_ == 1) return;
    auto leaders = mpi_->split_mpi(is_leader() ? 0 : -1, rank());
    if (leaders) exchange_ = std::make_unique<LeaderExchange>(std::move(leaders), node_of_rank_);
  }

  /// If the ranks have lost each other, MPI has too.
  ~NodeCommunicator() override {
    if (!is_broken()) return;
    mpi_->abandon();
    if (exchange_) exchange_->abandon();
  }

  std::string_view name() const override { return "node"; }
  void at_step(std::int64_t step) override {
    SharedCommunicator::at_step(step);
    mpi_->at_step(step);
  }

  void start_maximum(const Maximum& mine) override {
    if (nodes_ == 1) return SharedCommunicator::start_maximum(mine);
    mpi_->start_maximum(mine);
  }
  /// Between nodes MPI carries it, and makes no headway for those that wait on the board: what is under way comes first.
  Maximum finish_maximum(std::string_view name) override {
    if (nodes_ == 1) return SharedCommunicator::finish_maximum(name);
    drain();
    return mpi_->finish_maximum(name);
  }

  Memory allocate(std::size_t bytes, Device device) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

 protected:
  /// Between nodes: who waits on the board answers, over MPI, that it is there.
  double idle() override {
    if (nodes_ == 1) return SharedCommunicator::idle();
    mpi_->roll_call().answer();
    return 0.001;
  }

  Task task_of(Collective c) override {
    if (nodes_ == 1) return SharedCommunicator::task_of(c);
    if (c.kind == Collective::Kind::all_reduce && accumulator_of(c.buffer.dtype) == c.buffer.dtype) {
      make_room(c);
      return reduce_between_nodes(c);
    }
    return delegated(c);
  }
  const Segments& segments() const override { return windows_; }

 private:
  bool is_leader() const { return board().self() == 0; }
  int index_of(int other) const {
    const auto ranks = ranks_here(node_of_rank_, rank());
    return static_cast<int>(std::ranges::find(ranks, other) - ranks.begin());
  }

  Task delegated(Collective c) {
    Turn turn;
    co_await turn;  // all ranks hand over in the same order
    Delegated done(*mpi_, c);
    co_await done;
  }

  Task reduce_between_nodes(Collective c);
  void sum_stretch(const Collective& c, const Rendezvous::Meeting& meeting);

  std::unique_ptr<MpiCommunicator> mpi_;
  Memory board_memory_;
  std::vector<int> node_of_rank_;
  int nodes_;
  std::vector<int> sums_at_;  ///< which ranks of the board hold the sums of this node's subtrees
  std::unique_ptr<LeaderExchange> exchange_;
  Windows windows_;
};

/// This rank's stretch of the sums of the subtrees that lie whole on this node.
void NodeCommunicator::sum_stretch(const Collective& c, const Rendezvous::Meeting& meeting) {
  const auto [first, count] = stretch_of(c.buffer.count, board().self());
  auto parts = meeting.places();
  for (auto*& part : parts) part += first * size_of(c.buffer.dtype);
  combine_in_place(parts, count, c.buffer.dtype, c.op, steps());
}

Task NodeCommunicator::reduce_between_nodes(Collective c) {
  const auto meeting = announce(c, c.buffer.data, c.buffer.bytes());
  const auto number = meeting.number();
  Arrivals all(board(), Board::announced, number);
  co_await all;
  meeting.require_alike(c, step());
  if (meeting.any(Place::Kind::pieces)) {
    board().reach(Board::finished, number);
    board().reach(Board::copied, number);
    auto rest = delegated(c);
    while (rest.go_on()) co_await *rest.awaited();
    co_return;
  }
  if (c.buffer.count > 0) sum_stretch(c, meeting);
  board().reach(Board::finished, number);
  if (is_leader()) {
    Arrivals summed(board(), Board::finished, number);
    co_await summed;
    std::vector<std::byte*> sums;
    for (const int index : sums_at_) sums.push_back(meeting.place_of(index));
    auto rest = exchange_->reduce({nullptr, c.buffer.count, c.buffer.dtype}, c.op, std::move(sums));
    while (rest.go_on()) co_await *rest.awaited();
    board().reach(Board::exchanged, number);
  } else {
    Arrivals exchanged(board(), Board::exchanged, number, 0);
    co_await exchanged;
  }
  const auto* const result = meeting.place_of(0);
  if (c.buffer.count > 0 && result != c.buffer.data) std::memcpy(c.buffer.data, result, c.buffer.bytes());
  board().reach(Board::copied, number);
  Arrivals copied(board(), Board::copied, number);
  if (is_leader()) co_await copied;  // until then the others read its place
}

Memory NodeCommunicator::allocate(std::size_t bytes, Device device) {
  if (device != Device::host) return Communicator::allocate(bytes, device);
  drain();  // MPI is about to be used past the queue, and others may wait for what is in it
  windows_.reclaim(*mpi_);
  std::string obstacle;
  auto segment = share_segment(*mpi_, node_of_rank_, bytes, obstacle);
  if (obstacle.empty()) return windows_.add(std::move(segment));
  RankZero(rank()).run([&] {
    log::warning(fmt::format("{} bytes a rank do not lie in shared memory, so that reducing them takes copies: {}", bytes,
                             obstacle));
  });
  return Communicator::allocate(bytes, device);
}

/// Backend node if the ranks can have it, else mpi.
std::unique_ptr<Communicator> over(std::unique_ptr<MpiCommunicator> mpi, std::vector<int> node_of_rank) {
  std::map<int, int> ranks_on;
  for (const int node : node_of_rank) ++ranks_on[node];
  if (std::ranges::all_of(ranks_on, [](const auto& entry) { return entry.second == 1; })) return mpi;
  std::string obstacle;
  auto board = share_segment(*mpi, node_of_rank, Board::bytes_for(1), obstacle);
  if (obstacle.empty())
    return std::make_unique<NodeCommunicator>(std::move(mpi), std::move(node_of_rank), std::move(board));
  RankZero(mpi->rank()).run([&] {
    log::warning("the ranks of a node cannot share memory, so that all goes over MPI: " + obstacle);
  });
  return mpi;
}

std::unique_ptr<Communicator> NodeCommunicator::split(int color, int key) {
  const auto members = ranks_of_color(*this, color, key);
  auto part = mpi_->split_mpi(color, key);
  if (!part) return nullptr;
  std::map<int, int> numbers;  // nodes become dense again, by lowest rank
  std::vector<int> nodes;
  for (const int member : members)
    nodes.push_back(numbers.try_emplace(node_of_rank_[static_cast<std::size_t>(member)], static_cast<int>(numbers.size()))
                        .first->second);
  return over(std::move(part), std::move(nodes));
}

}  // namespace

extern const Backend node;

namespace {

std::unique_ptr<Communicator> open_node(launch::Launch& launch, const CommOptions& options) {
  auto mpi = start_mpi(launch, options, node.name);
  complete_topology(launch.world(), *mpi);
  return over(std::move(mpi), launch.world().node_of_rank);
}

}  // namespace

const Backend node{.name = "node",
                   .help = "the ranks of a node reduce in shared memory; one rank a node talks to the others over MPI",
                   .preference = 20,
                   .obstacle = [](const launch::Launch& launch) -> std::string {
                     return launch.world().size > 1 ? "" : "it takes more than one rank";
                   },
                   .open = open_node,
                   .explained = [](const World& world) -> std::string {
                     return world.node_count == 1 ? "in shared memory" : "in shared memory, MPI between nodes";
                   }};

}  // namespace trainrt::comm::plugins
