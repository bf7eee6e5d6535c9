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

/// The memory of a State's tensors, as a list of byte ranges (pieces) in the order in which a copy stores them. The
/// State must outlive the pieces.
struct StatePieces {
  using Piece = std::span<std::byte>;

  explicit StatePieces(const State& state);

  std::vector<Piece> own;     ///< tensors that only this rank holds, in the order of the State
  std::vector<Piece> common;  ///< replicated tensors, sorted by name: the same pieces on all ranks
  std::uint64_t own_bytes = 0;
  std::uint64_t common_bytes = 0;
  std::string layout;  ///< text that differs between States with other names, types, shapes or placements

  /// The ranks divide the bytes of the replicated tensors (`common`) between them, so that each byte is copied once.
  /// Returns the offset at which the bytes of rank `rank` of `ranks` ranks begin; they end at the offset of the next
  /// rank.
  std::uint64_t share_begin(int rank, int ranks) const;
};

/// Treats `pieces` as one contiguous sequence of bytes, and calls `visit` with each part of a piece that is in the byte
/// range from `begin` (inclusive) to `end` (exclusive), in order.
void for_each_part(std::span<const StatePieces::Piece> pieces, std::uint64_t begin, std::uint64_t end,
                   const std::function<void(StatePieces::Piece)>& visit);

/// Returns the values of `state` as bytes, which set_values() reads.
std::string packed_values(const State& state);
/// Sets the values of `state` from the bytes of packed_values() of a State with the same layout.
void set_values(const State& state, std::string_view packed);

}  // namespace trainrt::checkpoint
