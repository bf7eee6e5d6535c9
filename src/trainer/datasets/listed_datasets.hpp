#pragma once
#include <map>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::trainer {

/// The listings of the files of datasets, by NAME of section [data.NAME].
using Listings = std::map<std::string, data::Listing>;

/// Sets the addresses of object stores from config section [storage]. Must be called before the first use of a store.
void use_stores(const config::RunSpec& spec);

/// Lists the files of all datasets on rank 0 and returns the listings on all ranks. Collective. Throws AgreedError if a
/// file is missing or invalid.
Listings list_datasets(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
