#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/order/mixed_order.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// Finds the files of a [data.NAME] and looks at each, for a listing of that format. Says each minute how far it is.
/// `options` are checked. UsageError that names the file if one will not do, and on_error does not skip it; or if none is
/// left.
void scan_files(const std::string& section, Listing& listing, const Options& options, const Format& format);

/// The shares of the sources that the key weights mixes. UsageError if it cannot.
std::vector<MixedPart> mixed_parts_of(const Listing& listing, const Options& options);

}  // namespace trainrt::data
