#pragma once
#include <string>
#include <vector>

#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// Throws UsageError if a dataset is read from the file `path`: it is a file of the samples, or a file that a key
/// names. Other names of the file and links to it are detected, too. `keys` are the keys of the dataset's section.
/// Files with one sample each (images) are not compared, because no output has their names.
void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys);

/// Returns one line, with size and time of last change, for each file on which the samples of a dataset depend: the
/// files of the samples and those that keys name. Very many files share one line with a digest. The result changes only
/// if a file changes. Images are not opened when they are listed, so `threads` threads open them here.
std::vector<std::string> source_lines(const OpenedData& opened, int threads);

}  // namespace trainrt::cli::datasets
