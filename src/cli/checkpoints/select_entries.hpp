#pragma once
#include <string>
#include <vector>

#include "checkpoint/load/piece_reader.hpp"

namespace trainrt::cli {

/// Selected tensors and values of a checkpoint, by name.
struct SelectedEntries {
  std::vector<const checkpoint::PieceReader::Tensor*> tensors;
  std::vector<const checkpoint::PieceReader::NamedValue*> values;
};

/// Returns the tensors and values that `patterns` select (checkpoint::selects()), or all of them if there are no patterns.
/// The result points into `reader`. Throws UsageError, with the nearest name, if a pattern without '!' matches no name.
SelectedEntries select_entries(const checkpoint::PieceReader& reader, const std::vector<std::string>& patterns);

}  // namespace trainrt::cli
