#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/batches/dataset_plan.hpp"

namespace trainrt::data {

/// A plug-in, one file in data/reshape/operations: a key of every [data.NAME] that adds a step to the dataset's plan.
/// `name` is the key.
struct OperationKind {
  std::string_view name;
  std::string_view help;
  std::string_view form;  ///< form of the key's text, for help and messages: "FIELD LENGTH"
  /// Returns the step that the text describes. Throws UsageError if the text is invalid.
  std::shared_ptr<const Step> (*make)(const std::string& text) = nullptr;
  int order = 0;            ///< keys are applied in ascending order; below 0: before the key `preprocess`
  bool reads_file = false;  ///< the text may be @FILE

  bool precedes_preprocess() const { return order < 0; }
};

PluginTable<OperationKind> operation_table();

/// Returns the specifications of the keys of all operations.
std::vector<OptionSpec> operation_options();

/// A key of a section that adds a step.
struct RequestedStep {
  const OperationKind* kind = nullptr;
  std::shared_ptr<const Step> step;
  std::string origin;  ///< source of the key's value, for messages
};

/// Returns the steps that the keys of a section request, in the order in which they are applied. Throws UsageError that
/// names origin and key.
std::vector<RequestedStep> requested_steps(const Options& options);

/// Calls `call` and adds origin and key of `requested` to the UsageErrors that it throws.
template <class Call>
auto in_operation(const RequestedStep& requested, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(requested.origin + ": " + std::string(requested.kind->name) + ": " + error.what());
}

}  // namespace trainrt::data
