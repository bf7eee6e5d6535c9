#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/order/batch_plan.hpp"

namespace trainrt {

/// The ranks that together read a dataset before an epoch begins, each its share of the samples. A default Team has only
/// this rank.
struct Team {
  int rank = 0;
  int size = 1;
  /// Collective. Calls `scan`, which sets the elements of `numbers` in this rank's share; the other elements are 0. Then
  /// combines the shares, so that all ranks have all elements. If `scan` throws on a rank, all ranks throw.
  std::function<void(const std::function<void()>& scan, std::span<std::int64_t> numbers)> combine =
      [](const std::function<void()>& scan, std::span<std::int64_t>) { scan(); };
  /// Collective. Calls `make` on each rank, and returns the results of all ranks, by rank. If `make` throws on a rank,
  /// all ranks throw.
  std::function<std::vector<std::string>(const std::function<std::string()>& make)> gather =
      [](const std::function<std::string()>& make) { return std::vector<std::string>{make()}; };

  /// Divides the items 0 to `count` - 1 among the ranks. Returns the begin and the end (exclusive) of the share of rank
  /// `of_rank`.
  std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t count, int of_rank) const {
    return data::share_of(count, of_rank, size);
  }
  std::pair<std::uint64_t, std::uint64_t> own_share(std::uint64_t count) const { return share_of(count, rank); }
};

}  // namespace trainrt
