#include "data/reshape/operation.hpp"

#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"

namespace trainrt::data {

std::vector<OptionSpec> operation_options() {
  std::vector<OptionSpec> options;
  for (const auto* kind : by_order(operation_table()))
    options.push_back({.key = std::string(kind->name),
                       .default_value = "",
                       .help = std::string(kind->help),
                       .form = std::string(kind->form)});
  return options;
}

std::vector<RequestedStep> requested_steps(const Options& options) {
  std::vector<RequestedStep> found;
  for (const auto* kind : by_order(operation_table())) {
    const auto* const given = options.find(kind->name);
    if (given == nullptr || given->text.empty()) continue;
    RequestedStep requested{kind, nullptr, given->origin};
    requested.step = in_operation(requested, [&] { return kind->make(given->text); });
    found.push_back(std::move(requested));
  }
  return found;
}

}  // namespace trainrt::data
