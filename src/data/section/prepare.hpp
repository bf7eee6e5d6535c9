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
  /// The dataset of that name, opened and prepared. Called on all ranks alike.
  std::function<std::shared_ptr<DatasetImpl>(const std::string& name)> other = {};
  /// Collective: what `step` throws on one rank all throw.
  std::function<void(const std::function<void()>& step)> together = [](const std::function<void()>& step) { step(); };
};

/// Whether a dataset with these keys has to be prepared behind open_dataset(), before its first epoch.
bool needs_preparation(const Options& options, const Listing& listing);

/// Applies the operations of its keys and what `preprocess` says, in their order, and puts what keys change at random
/// behind them. Returns the fitted preprocessor as JSON, "" if there is none. Collective over dataset.team. `options`: of
/// the section. UsageErrors name section and key.
std::string prepare(DatasetImpl& dataset, const Options& options, const Listing& listing, const Preparation& preparation);

/// The section of that name and those whose samples it takes, or they take. Those that are not there are left out.
std::map<std::string, Options> with_others(const std::string& name, const std::map<std::string, Options>& sections);

/// UsageError if an operation of a section asks for what cannot be: a field that is not there or of another type, a dataset
/// that is not there, or that takes samples of itself. What hangs on values is found by prepare() only.
void require_operations(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings);

}  // namespace trainrt::data
