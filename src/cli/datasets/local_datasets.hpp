#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "data/section/open_dataset.hpp"

namespace trainrt::cli::datasets {

/// The datasets of a config, with all their operations and preprocessors, in this process alone.
class LocalDatasets {
 public:
  /// `sections`: keys of each [data.NAME].
  LocalDatasets(std::map<std::string, Options> sections, std::uint64_t seed);
  /// Returns the listing of a dataset. The first call lists it and the datasets that it takes samples from. Throws like
  /// data::list_dataset() and data::require_operations().
  const data::Listing& listing(const std::string& name);
  /// Returns the listings of all datasets that were listed so far.
  const std::map<std::string, data::Listing>& listings() const { return listings_; }
  /// Opens and prepares a dataset, with its own state for each call.
  std::shared_ptr<DatasetImpl> open(const std::string& name);

 private:
  std::map<std::string, Options> sections_;
  std::map<std::string, data::Listing> listings_;
  std::uint64_t seed_;
};

/// Returns the size and the fields of a dataset: "1200 samples: x f32[24, 3], y f32[24]".
std::string in_words(const DatasetImpl& dataset);

}  // namespace trainrt::cli::datasets
