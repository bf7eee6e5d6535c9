#pragma once
#include <string>
#include <vector>

#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// Throws UsageError if `path` is a file that the dataset named `dataset` reads. These are its files with samples, and
/// the files that `keys`, the keys of the dataset's section, name. Other names of such a file and links to it are
/// detected, too. Files with one sample each (images) are not compared, because no output file has a name like theirs.
void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys);

/// Returns lines that describe the files on which the samples of a dataset depend: the files with samples, and those
/// that keys name. Each file has a line with its size and the time of its last change; the lines of very many files are
/// replaced by a digest. The result changes only if a file changes. `threads` threads open images, because images are
/// not opened when they are listed.
std::vector<std::string> source_lines(const OpenedData& opened, int threads);

}  // namespace trainrt::cli::datasets
