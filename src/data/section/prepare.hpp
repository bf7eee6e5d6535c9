#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/options.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/section/listing.hpp"

namespace trainrt::data {

/// What a dataset needs to become what its keys say of its samples.
struct Preparation {
  std::string_view stored = {};  ///< what an earlier prepare() has returned, or nothing
  /// Collective: what `step` throws on one rank all throw.
  std::function<void(const std::function<void()>& step)> together = [](const std::function<void()>& step) { step(); };
};

/// Whether a dataset with these keys has to be prepared behind open_dataset(), before its first epoch.
bool needs_preparation(const Options& options, const Listing& listing);

/// Applies the operations of its keys and what `preprocess` says, in their order, and puts what keys change at random
/// behind them. Returns the fitted preprocessor as JSON, "" if there is none. Collective over dataset.team. `options`: of
/// the section. UsageErrors name section and key.
std::string prepare(DatasetImpl& dataset, const Options& options, const Listing& listing, const Preparation& preparation);

/// Throws UsageError if an operation of a section needs a field that does not exist or has another type. Errors that depend
/// on values are found only by prepare().
void require_operations(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings);

}  // namespace trainrt::data
