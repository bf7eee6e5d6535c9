#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/order/mixed_order.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// Finds the files of a [data.NAME] and adds them to `listing`, with their contents. Logs its progress once a minute.
/// Precondition: `options` have been checked. If a file cannot be used, throws UsageError, which names the file; with
/// on_error = skip, leaves out the file instead. Also throws UsageError if no file is left.
void scan_files(const std::string& section, Listing& listing, const Options& options, const Format& format);

/// Returns the sources that the key `weights` mixes, with their shares. Throws the errors of mixed_parts().
std::vector<MixedPart> mixed_parts_of(const Listing& listing, const Options& options);

}  // namespace trainrt::data
