#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

struct Preparation {
  /// The result of an earlier call of prepare(), or "". If it is the preprocessor that the key `preprocess` describes, it
  /// is used instead of a new fit.
  std::string_view stored = {};
  /// Collective. Calls `call`. If `call` throws on one rank, all ranks throw.
  std::function<void(const std::function<void()>& call)> collectively = [](const std::function<void()>& call) { call(); };
};

/// Returns the preprocessor that `text`, the value of the key `preprocess`, describes, as JSON. `text` is "NAME(columns:
/// A), NAME(...)", or @FILE, a file with a fitted preprocessor as JSON. Returns "" for an empty text. Throws UsageError if
/// the text is invalid.
std::string preprocessor_of_key(const std::string& text);

/// Returns whether a dataset with these keys needs prepare() after open_dataset(), before its first epoch.
bool needs_preparation(const Options& options, const Listing& listing);

/// Applies the keys of a section that make new samples, the key `preprocess`, and the keys of random augmentations.
/// Returns the fitted preprocessor as JSON, or "" if there is no preprocessor. Collective over the plan's team. Throws
/// UsageError, which names section and key, if a key cannot be applied.
std::string prepare(DatasetImpl& dataset, const Options& options, const Listing& listing,
                    const Preparation& preparation = {});

/// Returns the fields that result from all keys of a section. If the section has the key `preprocess`, returns the fields
/// before this key is applied, because the fields after it depend on the values of the dataset. Throws UsageError if a
/// key cannot be applied to the fields that result from the keys before it.
std::vector<Dataset::Field> fields_before_fitting(const std::string& name, const Options& given, const Listing& listing);

/// Throws UsageError if a key that makes new samples needs a field that does not exist or has an unsuitable type. Does not
/// find errors that depend on values; prepare() finds them.
void require_steps(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings);

}  // namespace trainrt::data
