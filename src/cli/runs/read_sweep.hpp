#pragma once
#include <optional>
#include <string>

#include "view/summary/sweep_summary.hpp"

namespace trainrt::cli {

/// Reads the trials of a sweep from its directory. Returns nullopt if `folder` is not the directory of a sweep.
std::optional<view::SweepSummary> read_sweep(const std::string& folder);

}  // namespace trainrt::cli
