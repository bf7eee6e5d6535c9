#include "comm/split_ranks.hpp"

#include <algorithm>

namespace trainrt::comm {

std::vector<int> ranks_of_color(Communicator& communicator, int color, int key) {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(communicator.size()), 2);
  const std::int32_t mine[] = {color, key};
  std::vector<std::int32_t> all(2 * counts.size());
  communicator.all_gather(mine, counts, Buffer{all.data(), all.size(), DType::i32}, "split");
  std::vector<int> ranks;
  for (int rank = 0; color >= 0 && rank < communicator.size(); ++rank)
    if (all[2 * static_cast<std::size_t>(rank)] == color) ranks.push_back(rank);
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return all[2 * static_cast<std::size_t>(rank) + 1]; });
  return ranks;
}

}  // namespace trainrt::comm
