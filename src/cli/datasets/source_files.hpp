#pragma once
#include <string>

#include "core/options.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::cli::datasets {

/// UsageError if the file `path` is, also by another name or through a link, one that a dataset is read from: a file of its
/// samples, or one that its keys name. Of files that are a sample each (images) only what keys name is looked at: nothing
/// that is written has their names. `keys`: of its section.
void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys);

}  // namespace trainrt::cli::datasets
