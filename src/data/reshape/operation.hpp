#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// What a key makes of the samples of a dataset: others, in another number.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Returns the fields of the samples that it makes of samples with the fields `before`. Throws UsageError if it cannot be
  /// applied to them.
  virtual std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const = 0;
  /// Collective over dataset.team, before the first epoch. What it throws anywhere but for lack of what only one rank
  /// cannot read all throw.
  virtual void apply(DatasetImpl& dataset) const = 0;
};

/// A plug-in: one file in data/operations. Its name is a key of every [data.NAME].
struct OperationKind {
  std::string_view name;
  std::string_view help;
  std::string_view form;  ///< of the key's text, in words: "FIELD LENGTH"
  /// Throws UsageError that says what is wrong with the text.
  std::unique_ptr<Operation> (*make)(const std::string& text) = nullptr;
  int place = 0;               ///< among the others; below 0: before the key `preprocess`
  bool mixes_sources = false;  ///< whether it may stand beside the key `weights`
  bool reads_file = false;     ///< its text may be @FILE
};

PluginTable<OperationKind> operation_table();

/// The keys of all operations.
std::vector<OptionSpec> operation_options();

enum class When : std::uint8_t { before_preprocess, after_preprocess };

/// An operation that a section asks for.
struct WantedOperation {
  const OperationKind* kind = nullptr;
  std::shared_ptr<const Operation> operation;
  std::string origin;  ///< of its key
};

/// Those of the keys of a section, in the order in which they are applied. UsageErrors name origin and key.
std::vector<WantedOperation> operations_of(const Options& options, std::optional<When> when = std::nullopt);

/// What `call` throws about an operation, with origin and key in front.
template <class Call>
auto in_operation(const WantedOperation& wanted, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(wanted.origin + ": " + std::string(wanted.kind->name) + ": " + error.what());
}

}  // namespace trainrt::data
