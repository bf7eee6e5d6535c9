#pragma once
#include <string>
#include <vector>

#include "tune/search/search_space.hpp"

namespace trainrt::tune {

/// Returns the warnings in a trial's log that its train function or program has not read the value of a dimension. All
/// trials of a sweep then train with the same value. Reads the first 64 KiB of the file `log`; returns no warnings if it
/// cannot be read.
std::vector<std::string> unread_keys_in(const std::string& log, const std::vector<SearchSpace::Dimension>& dimensions);

}  // namespace trainrt::tune
