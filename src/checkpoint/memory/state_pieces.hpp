#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// The memory of a State's tensors, as pieces that a copy contains one after the other. The State must outlive the pieces.
struct StatePieces {
  using Piece = std::span<std::byte>;

  explicit StatePieces(const State& state);

  std::vector<Piece> own;     ///< tensors that only this rank holds, in the order of the State
  std::vector<Piece> common;  ///< replicated tensors, sorted by name: the same pieces on all ranks
  std::uint64_t own_bytes = 0;
  std::uint64_t common_bytes = 0;
  std::string layout;  ///< text that differs between States with other names, types, shapes or placements

  /// Returns the offset in the common bytes at which the share of rank `rank` of `ranks` ranks begins. The share ends where
  /// that of the next rank begins. Each rank copies its own share.
  std::uint64_t share_begin(int rank, int ranks) const;
};

/// Calls `visit` with the parts of `pieces` that lie in the byte range from `begin` (inclusive) to `end` (exclusive) of all
/// pieces together, in order.
void for_each_part(std::span<const StatePieces::Piece> pieces, std::uint64_t begin, std::uint64_t end,
                   const std::function<void(StatePieces::Piece)>& visit);

/// Returns the values of `state` as bytes, which set_values() reads.
std::string packed_values(const State& state);
/// Sets the values of `state` from the bytes of packed_values() of a State with the same layout.
void set_values(const State& state, std::string_view packed);

}  // namespace trainrt::checkpoint
