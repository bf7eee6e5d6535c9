#include "cli/datasets/whole_datasets.hpp"

#include <utility>

#include <fmt/format.h>

#include "data/section/listings.hpp"
#include "data/section/prepare.hpp"

namespace trainrt::cli::datasets {

WholeDatasets::WholeDatasets(std::map<std::string, Options> sections, std::uint64_t seed)
    : sections_(std::move(sections)), seed_(seed) {}

const data::Listing& WholeDatasets::listing(const std::string& name) {
  if (listings_.contains(name)) return listings_.at(name);
  std::map<std::string, Options> wanted{*sections_.find(name)};
  data::add_train_of_classes(wanted, sections_);
  auto found = data::list_datasets(wanted);
  data::require_steps(wanted, found);
  listings_.merge(found);
  return listings_.at(name);
}

std::shared_ptr<DatasetImpl> WholeDatasets::open(const std::string& name) {
  const auto& its = listing(name);
  const auto& options = sections_.at(name);
  auto dataset = data::open_dataset(name, options, its, Shard{}, seed_);
  data::prepare(*dataset, options, its);
  return dataset;
}

std::string in_words(const DatasetImpl& dataset) {
  return fmt::format("{} samples: {}", dataset.source()->size(), data::in_words(dataset.plan().fields()));
}

}  // namespace trainrt::cli::datasets
