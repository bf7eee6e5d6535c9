#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/batches/dataset_plan.hpp"
#include "data/text/in_context.hpp"

namespace trainrt::data {

/// A plug-in that defines the key `name` of [data.NAME]. The key adds a step to the dataset, which chooses samples or
/// makes new samples. Each plug-in is one file in data/reshape/operations.
struct OperationKind {
  std::string_view name;
  std::string_view help;
  std::string_view form;  ///< form of the key's value, for help and messages: "FIELD LENGTH"
  /// Returns the step that `text`, the value of the key, describes. Throws UsageError if the text is invalid.
  Step (*make)(const std::string& text) = nullptr;
  int order = 0;            ///< the keys are applied in ascending order; below 0: before the key `preprocess`
  bool reads_file = false;  ///< whether the value of the key may be @FILE

  bool precedes_preprocess() const { return order < 0; }
};

PluginTable<OperationKind> operation_table();

/// Returns the specifications of the keys of all operations.
std::vector<OptionSpec> operation_options();

/// A key of a section, and the step that the key adds.
struct RequestedStep {
  const OperationKind* kind = nullptr;
  std::string origin;  ///< source of the key's value, for messages
  Step step = {};

  /// Returns call(). If it throws UsageError, adds the origin and the key to the message.
  template <class Call>
  auto in_key(const Call& call) const {
    return in_context(origin + ": " + std::string(kind->name), call);
  }
};

/// Returns the steps of the keys in `options` that choose samples or make new ones. The steps are in the order in which
/// they are applied. Throws UsageError, which names the key and the origin of its value, if the value is invalid.
std::vector<RequestedStep> requested_steps(const Options& options);

/// Parses the value of a config key: "WORD WORD name=value switch".
class KeyWords {
 public:
  /// `form` describes the valid values of the key, for the messages of the errors that the other functions throw.
  KeyWords(std::string_view text, std::string_view form);
  /// Removes and returns the first word without '='. Throws UsageError if no word is left.
  std::string take();
  /// Removes and returns the first word without '=', as an integer of at least `min`. Throws UsageError for any other
  /// word.
  std::uint64_t take_number(std::uint64_t min);
  /// Removes the item `name`=value from the text, and returns its value. Returns nullopt if the text has no such item.
  std::optional<std::string> value(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  /// Removes the word `word`, a switch. Returns whether the text contained this word.
  bool has(std::string_view word);
  /// Throws UsageError, which quotes the word, if a word is left.
  void end() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string form_;
  std::vector<std::string> words_;
};

}  // namespace trainrt::data
