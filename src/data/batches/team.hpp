#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trainrt {

/// Divides `count` consecutive items among `parts` shares as evenly as possible; the first shares may have one item
/// more. Returns the number of the first item of share `at`, and the number after its last item.
inline std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t count, int at, int parts) {
  const auto shares = static_cast<std::uint64_t>(parts), number = static_cast<std::uint64_t>(at);
  const auto each = count / shares, more = count % shares;
  const auto first = number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}

/// The ranks that scan a dataset together before an epoch begins: each scans its share. A default Team is one rank alone.
struct Team {
  int rank = 0;
  int size = 1;
  /// Collective. Calls `scan`, which sets the elements of `numbers` that belong to this rank's share and leaves the
  /// others 0. Then sets all elements on all ranks. If `scan` throws on a rank, all ranks throw.
  std::function<void(const std::function<void()>& scan, std::span<std::int64_t> numbers)> combine =
      [](const std::function<void()>& scan, std::span<std::int64_t>) { scan(); };
  /// Collective. Returns the results of `make` on all ranks, by rank. If `make` throws on a rank, all ranks throw.
  std::function<std::vector<std::string>(const std::function<std::string()>& make)> gather =
      [](const std::function<std::string()>& make) { return std::vector<std::string>{make()}; };

  /// Returns the share of rank `of_rank` when `count` consecutive items are divided among the ranks, as share_of()
  /// above.
  std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t count, int of_rank) const {
    return trainrt::share_of(count, of_rank, size);
  }
  std::pair<std::uint64_t, std::uint64_t> own_share(std::uint64_t count) const { return share_of(count, rank); }
};

}  // namespace trainrt
