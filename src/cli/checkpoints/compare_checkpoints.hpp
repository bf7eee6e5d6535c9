#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/load/piece_reader.hpp"

namespace trainrt::cli {

/// A tensor, value or file that is not the same in two checkpoints.
struct Difference {
  std::string kind;  ///< "tensor", "value" or "file"
  std::string name;
  std::string text;  ///< the difference, such as "4 and 2": first that of the first checkpoint
};

struct Comparison {
  // How many of each kind were compared. A name that only one checkpoint has counts, too.
  std::size_t tensors = 0, values = 0, files = 0;
  std::vector<Difference> differences;
};

/// Compares the contents of two checkpoints bit by bit: tensors, values, and the files that the train function has saved.
/// The values include trainrt's own, such as trainrt/step. Not compared are the metrics, the times, and the division of
/// tensors into shards. Files are compared by size and digest.
///
/// With a pattern, only tensors and values with a name that the pattern selects are compared, and no files. `progress` is
/// called with the numbers of bytes that have been and will be compared. Throws UsageError if the pattern selects nothing
/// in `first`, and Error if bytes are damaged.
Comparison compare_checkpoints(const checkpoint::PieceReader& first, const checkpoint::PieceReader& second,
                               const std::vector<std::string>& pattern,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace trainrt::cli
