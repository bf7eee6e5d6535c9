#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "data/section/open_dataset.hpp"

namespace trainrt::cli::datasets {

/// Datasets of a config, each with all that its keys make of its samples, in this process alone.
class WholeDatasets {
 public:
  /// `sections`: the keys of each [data.NAME].
  WholeDatasets(std::map<std::string, Options> sections, std::uint64_t seed);
  /// Returns the listing of the dataset `name`, which must be a section. Its files are listed at the first call. Throws the
  /// errors of data::list_datasets() and data::require_steps().
  const data::Listing& listing(const std::string& name);
  /// Another one each time. What its samples are found from is read.
  std::shared_ptr<DatasetImpl> open(const std::string& name);

 private:
  std::map<std::string, Options> sections_;
  std::map<std::string, data::Listing> listings_;
  std::uint64_t seed_;
};

/// "1200 samples: x f32[24, 3], y f32[24]"
std::string in_words(const DatasetImpl& dataset);

}  // namespace trainrt::cli::datasets
