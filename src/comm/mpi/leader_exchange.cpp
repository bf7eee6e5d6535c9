#include "comm/mpi/leader_exchange.hpp"

#include <algorithm>

#include "comm/mpi/mpi_lane.hpp"
#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t short_exchange_bytes = 16384;
constexpr int rounds_in_tags = 16000;  // two tags each; MPI promises tags up to 32767

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
    subtrees_.push_back(whole_subtrees(ranks, size_));
    all.insert(all.end(), subtrees_.back().begin(), subtrees_.back().end());
    first_ranks.push_back(ranks.front());
  }
  steps_ = steps_between(all, size_);
  leaders_->roll_call().call_them(std::move(first_ranks));
}

Task LeaderExchange::reduce(Buffer shape, Op op, std::vector<std::byte*> sums) {
  const int tag = static_cast<int>(++rounds_ % rounds_in_tags) * 2;
  const int self = leaders_->rank();
  const int nodes = leaders_->size();
  const auto width = size_of(shape.dtype);
  const bool whole = shape.bytes() <= short_exchange_bytes;
  const auto share = [&](int node) {
    return shape.count * static_cast<std::size_t>(node) / static_cast<std::size_t>(nodes);
  };
  const auto first_of = [&](int node) { return whole ? 0 : share(node); };
  const auto count_of = [&](int node) { return whole ? shape.count : share(node + 1) - share(node); };
  const auto mine = count_of(self) * width;

  std::size_t others = 0;
  for (int node = 0; node < nodes; ++node)
    if (node != self) others += subtrees_[static_cast<std::size_t>(node)].size();
  std::vector<std::byte> received(others * mine);
  std::vector<std::byte*> parts;
  auto* next = received.data();
  MpiRequests scatter(leaders_->roll_call());
  for (int node = 0; node < nodes; ++node) {
    const MpiLane lane{leaders_->handle(), node, tag};
    for (std::size_t s = 0; s < subtrees_[static_cast<std::size_t>(node)].size(); ++s) {
      if (node == self) {
        parts.push_back(sums[s] + first_of(self) * width);
      } else {
        lane.receive(next, mine, scatter);
        parts.push_back(next);
        next += mine;
      }
    }
    if (node == self) continue;
    for (auto* sum : sums) lane.send(sum + first_of(node) * width, count_of(node) * width, scatter);
  }
  co_await scatter;
  std::byte* const result = sums[0] + first_of(self) * width;
  reduce_to(parts, {&result, 1}, count_of(self), shape.dtype, op, steps_, size_);
  if (whole) co_return;
  MpiRequests gather(leaders_->roll_call());
  for (int node = 0; node < nodes; ++node) {
    if (node == self) continue;
    const MpiLane lane{leaders_->handle(), node, tag + 1};
    lane.receive(sums[0] + first_of(node) * width, count_of(node) * width, gather);
    lane.send(result, mine, gather);
  }
  co_await gather;
}

}  // namespace trainrt::comm
