#include "cli/datasets/local_datasets.hpp"

#include <utility>

#include <fmt/format.h>

#include "data/section/listings.hpp"
#include "data/section/prepare.hpp"

namespace trainrt::cli::datasets {

LocalDatasets::LocalDatasets(std::map<std::string, Options> sections, std::uint64_t seed)
    : sections_(std::move(sections)), seed_(seed) {}

const data::Listing& LocalDatasets::listing(const std::string& name) {
  if (listings_.contains(name)) return listings_.at(name);
  auto wanted = data::with_others(name, sections_);
  data::add_train_of_classes(wanted, sections_);
  auto found = data::list_datasets(wanted);
  for (const auto& [other, options] : sections_)
    if (!wanted.contains(other)) wanted.emplace(other, Options());  // known names, for messages
  data::require_operations(wanted, found);
  listings_.merge(found);
  return listings_.at(name);
}

std::shared_ptr<DatasetImpl> LocalDatasets::open(const std::string& name) {
  const auto& listed = listing(name);
  const auto& options = sections_.at(name);
  auto dataset = data::open_dataset(name, options, listed, Shard{}, seed_);
  data::prepare(*dataset, options, listed, {.other = [this](const std::string& other) { return open(other); }});
  return dataset;
}

std::string in_words(const DatasetImpl& dataset) {
  return fmt::format("{} samples: {}", dataset.source->size(), data::in_words(data::fields_of(dataset)));
}

}  // namespace trainrt::cli::datasets
