#pragma once
#include <string>
#include <vector>

#include "cli/datasets/opened_data.hpp"

namespace trainrt::cli::datasets {

/// All files that the samples of a dataset hang on, a line each with size and time of last change: those of the dataset and
/// of those it takes samples of, and those that keys name. Of very many files a line says what all of them are, by a
/// digest. Two calls give the same unless a file has changed. Looks at images, which are not looked at when they are
/// listed, by `threads` threads.
std::vector<std::string> source_lines(const OpenedData& opened, int threads);

}  // namespace trainrt::cli::datasets
