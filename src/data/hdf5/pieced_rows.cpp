#include "data/hdf5/pieced_rows.hpp"

#include <algorithm>

namespace trainrt::data {

PiecedRows::PiecedRows(std::size_t row_bytes, std::vector<Piece> pieces)
    : row_bytes_(row_bytes), pieces_(std::move(pieces)) {
  std::uint64_t end = 0;
  for (const auto& piece : pieces_) ends_.push_back(end += piece.rows);
}

bool PiecedRows::is_resident() const {
  return std::all_of(pieces_.begin(), pieces_.end(), [](const auto& piece) { return piece.from->is_resident(); });
}

void PiecedRows::read(std::span<const std::uint64_t> rows, std::byte* out) const {
  std::vector<std::uint64_t> within;
  for (std::size_t at = 0; at < rows.size();) {
    const auto piece = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), rows[at]) - ends_.begin());
    const auto begin = piece == 0 ? 0 : ends_[piece - 1];
    within.clear();
    for (; at < rows.size() && rows[at] >= begin && rows[at] < ends_[piece]; ++at)
      within.push_back(rows[at] - begin + pieces_[piece].first);
    pieces_[piece].from->read(within, out);
    out += within.size() * row_bytes_;
  }
}

}  // namespace trainrt::data
