#pragma once
#include <span>
#include <string>

namespace trainrt::checkpoint {

/// Joins `failures` of ranks, "rank 1 on n1: TEXT", in one line. Ranks with the same TEXT are joined, also if the numbers
/// in TEXT differ, such as an offset in a file: "ranks 0-1 on n1: TEXT; rank 2 on n2: OTHER TEXT", with the TEXT of the
/// first rank. Pure function.
std::string joined_failures(std::span<const std::string> failures);

}  // namespace trainrt::checkpoint
