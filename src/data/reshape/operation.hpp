#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/batches/dataset_plan.hpp"

namespace trainrt::data {

/// A plug-in that defines a key of [data.NAME]. The key adds a step to the plan of the dataset. Each plug-in is one
/// file in data/reshape/operations. `name` is the key.
struct OperationKind {
  std::string_view name;
  std::string_view help;
  std::string_view form;  ///< form of the key's text, for help and messages: "FIELD LENGTH"
  /// Returns the step that `text`, the value of the key, describes. Throws UsageError if the text is invalid.
  std::shared_ptr<const Step> (*make)(const std::string& text) = nullptr;
  int order = 0;            ///< keys are applied in ascending order; below 0: before the key `preprocess`
  bool reads_file = false;  ///< the text may be @FILE

  bool precedes_preprocess() const { return order < 0; }
};

PluginTable<OperationKind> operation_table();

/// Returns the specifications of the keys of all operations.
std::vector<OptionSpec> operation_options();

/// A key of a section, and the step that the key adds.
struct RequestedStep {
  const OperationKind* kind = nullptr;
  std::shared_ptr<const Step> step;
  std::string origin;  ///< source of the key's value, for messages
};

/// Returns the steps that the keys of a section request, in the order in which they are applied. Throws UsageError that
/// names origin and key.
std::vector<RequestedStep> requested_steps(const Options& options);

/// Calls `call`. If it throws UsageError, adds origin and key of `requested` to the message.
template <class Call>
auto in_operation(const RequestedStep& requested, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(requested.origin + ": " + std::string(requested.kind->name) + ": " + error.what());
}

}  // namespace trainrt::data
