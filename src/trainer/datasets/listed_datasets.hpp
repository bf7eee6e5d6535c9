#pragma once
#include <map>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::trainer {

/// What the files of each [data.NAME] hold.
using Listings = std::map<std::string, data::Listing>;

/// Tells this process where object stores are, as [storage] has it: before the first is used.
void use_stores(const config::RunSpec& spec);

/// Collective: rank 0 looks at the files, and all get what it has found. All throw the same if one will not do.
Listings list_datasets(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
