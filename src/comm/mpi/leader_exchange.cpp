#include "comm/mpi/leader_exchange.hpp"

#include <algorithm>

#include "comm/element_range.hpp"
#include "comm/mpi/mpi_lane.hpp"
#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t short_exchange_bytes = 16384;
/// After this number of reductions, the MPI tags are used again. Each reduction uses two tags, and the MPI standard
/// guarantees only tags up to 32767.
constexpr int rounds_in_tags = 16000;

std::vector<std::vector<int>> ranks_of_nodes(std::span<const int> node_of_rank) {
  std::vector<std::vector<int>> nodes;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of_rank[rank]);
    if (node >= nodes.size()) nodes.resize(node + 1);
    nodes[node].push_back(static_cast<int>(rank));
  }
  return nodes;
}

}  // namespace

LeaderExchange::LeaderExchange(std::unique_ptr<MpiCommunicator> leaders, std::span<const int> node_of_rank)
    : leaders_(std::move(leaders)), size_(static_cast<int>(node_of_rank.size())) {
  std::vector<Subtree> all;
  std::vector<int> first_ranks;
  for (const auto& ranks : ranks_of_nodes(node_of_rank)) {
    subtrees_.push_back(complete_subtrees(ranks, size_));
    all.insert(all.end(), subtrees_.back().begin(), subtrees_.back().end());
    first_ranks.push_back(ranks.front());
  }
  steps_ = steps_between(all, size_);
  leaders_->roll_call().set_numbers(std::move(first_ranks));
}

CollectiveTask LeaderExchange::reduce(Buffer shape, Op op, std::vector<std::byte*> sums) {
  const int tag = static_cast<int>(++rounds_ % rounds_in_tags) * 2;
  const int self = leaders_->rank();
  const int nodes = leaders_->size();
  const auto width = size_of(shape.dtype);
  const bool is_short = shape.bytes() <= short_exchange_bytes;
  const auto range_of = [&](int node) {
    return is_short ? ElementRange{0, shape.count} : share_of(shape.count, node, nodes);
  };
  const auto own = range_of(self);
  const auto own_bytes = own.count * width;

  std::size_t others = 0;
  for (int node = 0; node < nodes; ++node)
    if (node != self) others += subtrees_[static_cast<std::size_t>(node)].size();
  std::vector<std::byte> received(others * own_bytes);
  std::vector<std::byte*> parts;
  auto* next = received.data();
  MpiRequests scatter(leaders_->roll_call());
  for (int node = 0; node < nodes; ++node) {
    const MpiLane lane{leaders_->handle(), node, tag};
    for (std::size_t s = 0; s < subtrees_[static_cast<std::size_t>(node)].size(); ++s) {
      if (node == self) {
        parts.push_back(sums[s] + own.first * width);
      } else {
        lane.receive(next, own_bytes, scatter);
        parts.push_back(next);
        next += own_bytes;
      }
    }
    if (node == self) continue;
    const auto theirs = range_of(node);
    for (auto* sum : sums) lane.send(sum + theirs.first * width, theirs.count * width, scatter);
  }
  co_await scatter;
  std::byte* const result = sums[0] + own.first * width;
  reduce_to(parts, {&result, 1}, own.count, shape.dtype, op, steps_, size_);
  if (is_short) co_return;
  MpiRequests gather(leaders_->roll_call());
  for (int node = 0; node < nodes; ++node) {
    if (node == self) continue;
    const MpiLane lane{leaders_->handle(), node, tag + 1};
    const auto theirs = range_of(node);
    lane.receive(sums[0] + theirs.first * width, theirs.count * width, gather);
    lane.send(result, own_bytes, gather);
  }
  co_await gather;
}

}  // namespace trainrt::comm
