// The communication backend "node": the ranks of a node reduce in shared memory, and the first rank of each node
// exchanges the results with the first ranks of the other nodes over MPI. If all ranks are on one node, MPI is not
// needed.
//
// Sums follow the fixed binary tree over rank numbers. A node computes one sum for each subtree that contains only ranks of
// this node, and only these sums are sent. If each node has 2^k consecutive ranks, this is one sum per node.
#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <trainrt/communicators.hpp>
#include <trainrt/error.hpp>

#include "comm/backend.hpp"
#include "comm/backend_agreement.hpp"
#include "comm/mpi/leader_exchange.hpp"
#include "comm/mpi/mpi_collective.hpp"
#include "comm/mpi/start_mpi.hpp"
#include "comm/node/node_rank.hpp"
#include "comm/node/node_windows.hpp"
#include "comm/node/shared_communicator.hpp"
#include "comm/node/shared_segment.hpp"
#include "comm/reduce.hpp"
#include "comm/split_ranks.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "launch/mpi/mpi_library.hpp"

namespace trainrt::comm::plugins {

extern const Backend node;

namespace {

/// A condition that is always true: a coroutine that awaits it waits for all earlier collectives in the queue.
class QueueTurn : public Awaited {
 public:
  bool ready() override { return true; }
  void sleep(double) override {}
  std::string missing() override { return {}; }
};

/// Logs a warning, on rank 0 only.
void warn(int rank, const std::string& text) {
  RankZero(rank).run([&] { log::warning(text); });
}

class NodeCommunicator : public SharedCommunicator {
 public:
  /// `mpi`: a communicator over the same ranks, or nullptr if all ranks are on one node and communicate without MPI.
  /// `segment`: memory for the board of the ranks of this node.
  NodeCommunicator(std::unique_ptr<MpiCommunicator> mpi, NodeRank self, SharedSegment segment)
      : SharedCommunicator(Board(segment.memory.get(), segment.index, self.ranks_here()), self.ranks_here(),
                           static_cast<int>(self.node_of_rank.size()), self.timeout_seconds),
        mpi_(std::move(mpi)),
        board_memory_(std::move(segment.memory)),
        node_of_rank_(std::move(self.node_of_rank)),
        nodes_(*std::ranges::max_element(node_of_rank_) + 1) {
    for (const auto& subtree : complete_subtrees(ranks_here(node_of_rank_, rank()), size()))
      sums_at_.push_back(index_of(subtree.first));
    if (nodes_ == 1) return;
    auto leaders = mpi_->split_mpi(is_leader() ? 0 : -1, rank());
    if (leaders) exchange_ = std::make_unique<LeaderExchange>(std::move(leaders), node_of_rank_);
  }

  /// The destructor does not wait for other ranks in MPI after a failed collective, because they may have exited.
  ~NodeCommunicator() override {
    if (!is_broken() || !mpi_) return;
    mpi_->abandon();
    if (exchange_) exchange_->abandon();
  }

  std::string_view name() const override { return "node"; }
  void at_step(std::int64_t step) override {
    SharedCommunicator::at_step(step);
    if (mpi_) mpi_->at_step(step);
  }

  void start_maximum(const Maximum& mine) override {
    if (nodes_ == 1) return SharedCommunicator::start_maximum(mine);
    mpi_->start_maximum(mine);
  }
  /// First completes this rank's collectives in progress: other ranks may wait for them, and do not poll MPI meanwhile.
  Maximum finish_maximum(std::string_view name) override {
    if (nodes_ == 1) return SharedCommunicator::finish_maximum(name);
    drain();
    return mpi_->finish_maximum(name);
  }

  Memory allocate(std::size_t bytes, Device device) override;
  Memory allocate_shared(std::size_t bytes) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

 protected:
  /// Answers roll calls of other nodes during a long wait. A roll call finds the ranks that have not joined a collective.
  double on_long_wait(double waited_s) override {
    if (nodes_ == 1) return SharedCommunicator::on_long_wait(waited_s);
    mpi_->roll_call().answer();
    constexpr double min_s = 0.02, max_s = 0.25;  // far less than the two seconds for which a roll call waits for answers
    return std::clamp(waited_s / 20, min_s, max_s);
  }

  CollectiveTask make_task(Collective c) override {
    if (nodes_ == 1) return SharedCommunicator::make_task(c);
    if (c.kind == Collective::Kind::all_reduce && accumulator_of(c.buffer.dtype) == c.buffer.dtype) {
      make_room(c);
      return reduce_between_nodes(c);
    }
    return reduce_by_mpi(c);
  }
  const Segments& segments() const override { return windows_; }

 private:
  bool is_leader() const { return board().self() == 0; }
  /// Returns the communicator by which the ranks agree when they create and release shared memory.
  Communicator& plain() { return mpi_ ? static_cast<Communicator&>(*mpi_) : *this; }
  std::unique_ptr<Communicator> split_in_memory(std::span<const int> members);
  int index_of(int other) const {
    const auto ranks = ranks_here(node_of_rank_, rank());
    return static_cast<int>(std::ranges::find(ranks, other) - ranks.begin());
  }

  CollectiveTask reduce_by_mpi(Collective c) {
    QueueTurn turn;
    co_await turn;  // waits for earlier collectives, so that all ranks pass their collectives to MPI in the same order
    MpiCollective done(*mpi_, c);
    co_await done;
  }

  CollectiveTask reduce_between_nodes(Collective c);
  void sum_share(const Collective& c, const Announcer::EnteredCollective& entered);

  std::unique_ptr<MpiCommunicator> mpi_;
  Memory board_memory_;
  std::vector<int> node_of_rank_;
  int nodes_;
  /// The ranks of this node that hold the sums of the node's complete subtrees in their buffers. Each rank is given by its
  /// index among the ranks of the node.
  std::vector<int> sums_at_;
  std::unique_ptr<LeaderExchange> exchange_;
  NodeWindows windows_;
};

/// Reduces the data of this node's ranks, but only those elements for which this rank is responsible (its share). Computes
/// one sum for each subtree of the reduction tree that contains only ranks of this node.
void NodeCommunicator::sum_share(const Collective& c, const Announcer::EnteredCollective& entered) {
  const auto [first, count] = share_of_rank(c.buffer.count, board().self());
  auto parts = entered.data_of_all();
  for (auto*& part : parts) part += first * size_of(c.buffer.dtype);
  combine_in_place(parts, count, c.buffer.dtype, c.op, steps());
}

CollectiveTask NodeCommunicator::reduce_between_nodes(Collective c) {
  const auto entered = announce(c, c.buffer.data, c.buffer.bytes());
  const auto number = entered.number();
  CounterWait all(board(), Board::announced, number);
  co_await all;
  entered.require_alike(c, step());
  if (entered.any(DataLocation::Kind::pieces)) {
    board().reach(Board::finished, number);
    board().reach(Board::copied, number);
    auto rest = reduce_by_mpi(c);
    while (rest.advance()) co_await *rest.awaited();
    co_return;
  }
  if (c.buffer.count > 0) sum_share(c, entered);
  board().reach(Board::finished, number);
  if (is_leader()) {
    CounterWait summed(board(), Board::finished, number);
    co_await summed;
    std::vector<std::byte*> sums;
    for (const int index : sums_at_) sums.push_back(entered.data_of(index));
    auto rest = exchange_->reduce({nullptr, c.buffer.count, c.buffer.dtype}, c.op, std::move(sums));
    while (rest.advance()) co_await *rest.awaited();
    board().reach(Board::exchanged, number);
  } else {
    CounterWait exchanged(board(), Board::exchanged, number, 0);
    co_await exchanged;
  }
  const auto* const result = entered.data_of(0);
  if (c.buffer.count > 0 && result != c.buffer.data) std::memcpy(c.buffer.data, result, c.buffer.bytes());
  board().reach(Board::copied, number);
  CounterWait copied(board(), Board::copied, number);
  if (is_leader()) co_await copied;  // waits, because the other ranks read the result from the leader's data
}

Memory NodeCommunicator::allocate(std::size_t bytes, Device device) {
  if (device != Device::host) return Communicator::allocate(bytes, device);
  drain();  // MPI calls bypass the queue of collectives, and other ranks may wait for collectives in it
  windows_.reclaim(plain());
  std::string failure;
  auto segment = share_segment(SegmentRanks::of(plain(), node_of_rank_), bytes, failure);
  if (failure.empty()) return windows_.add(std::move(segment));
  warn(rank(), fmt::format("cannot allocate {} bytes per rank in shared memory: {}. Reductions need additional copies.",
                           bytes, failure));
  return Communicator::allocate(bytes, device);
}

Memory NodeCommunicator::allocate_shared(std::size_t bytes) {
  if (nodes_ > 1) return {};
  drain();  // as in allocate()
  std::string failure;
  auto segment = share_on_demand(SegmentRanks::of(plain(), node_of_rank_), bytes, bytes, failure);
  if (!failure.empty()) warn(rank(), fmt::format("the ranks cannot share {} bytes of memory: {}", bytes, failure));
  return std::move(segment.memory);
}

/// Returns `mpi` if no node has 2 ranks, or ranks cannot share memory; otherwise a NodeCommunicator over `mpi`. Collective.
std::unique_ptr<Communicator> node_communicator_over(std::unique_ptr<MpiCommunicator> mpi, std::vector<int> node_of_rank) {
  std::map<int, int> ranks_on;
  for (const int node : node_of_rank) ++ranks_on[node];
  if (std::ranges::all_of(ranks_on, [](const auto& entry) { return entry.second == 1; })) return mpi;
  std::string failure;
  auto board = share_segment(SegmentRanks::of(*mpi, node_of_rank), Board::bytes_for(1), failure);
  NodeRank self{mpi->rank(), std::move(node_of_rank), mpi->timeout_seconds()};
  if (failure.empty()) return std::make_unique<NodeCommunicator>(std::move(mpi), std::move(self), std::move(board));
  warn(mpi->rank(), "the ranks of a node cannot share memory: " + failure + ". They communicate over MPI instead.");
  return mpi;
}

/// Returns a communicator over `members`, ranks of this node in the order of their new numbers; nullptr if the list is
/// empty. Collective over all ranks of this communicator, which may pass different lists.
std::unique_ptr<Communicator> NodeCommunicator::split_in_memory(std::span<const int> members) {
  constexpr int mine = 1, others = 0;
  std::vector<int> group_of_rank(static_cast<std::size_t>(size()), others);
  group_of_rank[static_cast<std::size_t>(rank())] = mine;
  for (const int member : members) group_of_rank[static_cast<std::size_t>(member)] = mine;
  std::string failure;
  auto segment = share_segment(SegmentRanks::of(*this, group_of_rank), Board::bytes_for(1), failure);
  if (!failure.empty()) throw Error("the ranks of a node cannot share memory: " + failure);
  if (members.empty()) return nullptr;
  if (members.size() == 1) return self_communicator();
  segment.index = static_cast<int>(std::ranges::find(members, rank()) - members.begin());
  NodeRank self{segment.index, std::vector<int>(members.size(), 0), timeout_seconds()};
  return std::make_unique<NodeCommunicator>(nullptr, std::move(self), std::move(segment));
}

std::unique_ptr<Communicator> NodeCommunicator::split(int color, int key) {
  const auto members = ranks_of_color(*this, color, key);
  if (!mpi_) return split_in_memory(members);
  auto part = mpi_->split_mpi(color, key);
  if (!part) return nullptr;
  std::map<int, int> numbers;  // old node number -> new node number, without gaps, in the order of the new rank numbers
  std::vector<int> nodes;
  for (const int member : members)
    nodes.push_back(numbers.try_emplace(node_of_rank_[static_cast<std::size_t>(member)], static_cast<int>(numbers.size()))
                        .first->second);
  return node_communicator_over(std::move(part), std::move(nodes));
}

/// Returns a communicator of ranks on one node that does not use MPI; nullptr if the ranks cannot share memory. Collective.
std::unique_ptr<Communicator> open_in_memory(launch::Launch& launch, const CommOptions& options) {
  const auto& world = launch.world();
  const SegmentRanks ranks{world.rank, world.node_of_rank, [&](auto text) { return launch.gather(std::string(text)); }};
  std::string failure;
  auto board = share_segment(ranks, Board::bytes_for(1), failure);
  if (!failure.empty()) {
    const auto& found = launch::found_mpi();
    if (found.library) return nullptr;
    throw UsageError(fmt::format("the ranks of a node cannot share memory: {}. They need MPI instead, but {}. {}", failure,
                                 found.problem, found.advice));
  }
  launch.after_mpi();
  NodeRank self{world.rank, world.node_of_rank, options.timeout_seconds};
  return std::make_unique<NodeCommunicator>(nullptr, std::move(self), std::move(board));
}

std::unique_ptr<Communicator> open_node(launch::Launch& launch, const CommOptions& options) {
  if (agree_before_mpi(launch, node.name))
    if (auto communicator = open_in_memory(launch, options)) return communicator;
  auto mpi = start_mpi(launch, options, node.name);
  complete_topology(launch.world(), *mpi);
  return node_communicator_over(std::move(mpi), launch.world().node_of_rank);
}

}  // namespace

const Backend node{
    .name = "node",
    .help = "the ranks of a node reduce in shared memory; one rank per node communicates with the other nodes over MPI",
    .preference = 20,
    .why_unavailable = [](const launch::Launch& launch) -> std::string {
      return launch.world().size > 1 ? "" : "it requires more than one rank";
    },
    .open = open_node,
    .details = [](const World& world) -> std::string {
      return world.node_count == 1 ? "in shared memory" : "in shared memory, MPI between nodes";
    }};

}  // namespace trainrt::comm::plugins
