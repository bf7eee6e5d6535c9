#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"
#include "tune/search/search_space.hpp"

namespace trainrt::tune {

// Placeholders in train.program, into which a sweep inserts the values of a trial. The placeholder of the key loop.lr is
// {lr}, and that of data.train.noise is {data.train.noise}.

/// Replaces the placeholder of `key` in a command by the quoted value. Returns whether the command has the placeholder.
bool fill_placeholder(std::string& program, const std::string& key, const std::string& value);

/// Throws UsageError if train.program has the placeholder of no dimension, such as {lr}, and a dimension with a similar
/// name, such as lrr, has no placeholder there. Other text in braces is accepted.
void check_placeholders(const Options& config, const std::vector<SearchSpace::Dimension>& dimensions);

}  // namespace trainrt::tune
