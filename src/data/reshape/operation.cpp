#include "data/reshape/operation.hpp"

#include <trainrt/error.hpp>

#include "data/bytes/in_place.hpp"

namespace trainrt::data {

std::vector<OptionSpec> operation_options() {
  std::vector<OptionSpec> options;
  for (const auto* kind : in_place(operation_table()))
    options.push_back({.key = std::string(kind->name),
                       .default_value = "",
                       .help = std::string(kind->help),
                       .form = std::string(kind->form)});
  return options;
}

std::vector<RequestedStep> requested_steps(const Options& options, std::optional<When> when) {
  std::vector<RequestedStep> found;
  for (const auto* kind : in_place(operation_table())) {
    const auto* const given = options.find(kind->name);
    const auto kind_when = kind->place < 0 ? When::before_preprocess : When::after_preprocess;
    if (given == nullptr || given->text.empty() || (when && *when != kind_when)) continue;
    RequestedStep requested{kind, nullptr, given->origin};
    requested.step = in_operation(requested, [&] { return kind->make(given->text); });
    found.push_back(std::move(requested));
  }
  return found;
}

}  // namespace trainrt::data
