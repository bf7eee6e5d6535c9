#pragma once
#include <string>
#include <vector>

#include "checkpoint/load/piece_reader.hpp"

namespace trainrt::cli {

/// Tensors and values of a checkpoint, by name.
struct Chosen {
  std::vector<const checkpoint::PieceReader::Tensor*> tensors;
  std::vector<const checkpoint::PieceReader::NamedValue*> values;
};

/// The entries that the patterns take in (load.hpp: Selection), all without a pattern. UsageError, with the nearest
/// name, if a pattern that takes in matches nothing.
Chosen choose_entries(const checkpoint::PieceReader& reader, const std::vector<std::string>& patterns);

/// The parts of "a,b,c" that are not empty.
std::vector<std::string> split_patterns(const std::string& text);

}  // namespace trainrt::cli
