#pragma once
#include <string>
#include <vector>

#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// Throws UsageError if the file `path`, also under another name or through a link, is one that a dataset is read from: a
/// file of its samples, or one that its keys name. Files with one sample each (images) are not compared, because no output
/// has their names. `keys`: keys of its section.
void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys);

/// Returns a line, with size and time of last change, for each file that the samples of a dataset depend on: its files
/// and those that keys name. Very many files share a line with a digest. The
/// result changes only if a file changes. Images, which are not opened when they are listed, are opened by `threads`
/// threads.
std::vector<std::string> source_lines(const OpenedData& opened, int threads);

}  // namespace trainrt::cli::datasets
