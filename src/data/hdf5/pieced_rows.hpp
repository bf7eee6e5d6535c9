#pragma once
#include <memory>
#include <vector>

#include "data/hdf5/rows.hpp"

namespace trainrt::data {

/// The rows of several pieces. The rows of a piece follow those of the piece before it.
class PiecedRows final : public Rows {
 public:
  struct Piece {
    std::uint64_t rows = 0;
    std::uint64_t first = 0;  ///< number of the piece's first row in `from`
    std::shared_ptr<const Rows> from;
  };
  PiecedRows(std::size_t row_bytes, std::vector<Piece> pieces);
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override;
  bool is_resident() const override;

 private:
  std::size_t row_bytes_;
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace trainrt::data
