#include "data/reshape/operation.hpp"

#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"

namespace trainrt::data {

std::vector<OptionSpec> operation_options() {
  std::vector<OptionSpec> options;
  for (const auto* kind : by_order(operation_table(), &OperationKind::place))
    options.push_back({.key = std::string(kind->name),
                       .default_value = "",
                       .help = std::string(kind->help),
                       .form = std::string(kind->form)});
  return options;
}

std::vector<WantedOperation> operations_of(const Options& options, std::optional<When> when) {
  std::vector<WantedOperation> found;
  for (const auto* kind : by_order(operation_table(), &OperationKind::place)) {
    const auto* const given = options.find(kind->name);
    const auto its = kind->place < 0 ? When::before_preprocess : When::after_preprocess;
    if (given == nullptr || given->text.empty() || (when && *when != its)) continue;
    WantedOperation wanted{kind, nullptr, given->origin};
    wanted.operation = in_operation(wanted, [&] { return kind->make(given->text); });
    found.push_back(std::move(wanted));
  }
  return found;
}

}  // namespace trainrt::data
