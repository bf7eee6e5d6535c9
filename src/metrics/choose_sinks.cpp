#include <algorithm>

#include <trainrt/error.hpp>

#include "metrics/sink.hpp"

namespace trainrt::metrics {

std::vector<ChosenSink> choose_sinks(std::span<const std::string> names, const std::map<std::string, Options>& sections) {
  for (const auto& [name, options] : sections) {
    const auto& kind = find_plugin(sink_table(), name, "sink");
    static_cast<void>(checked(options, kind.options, "[sink." + name + "]"));
  }
  std::vector<ChosenSink> chosen;
  for (const auto& name : names) {
    const auto& kind = find_plugin(sink_table(), name, "sink");
    if (std::ranges::any_of(chosen, [&](const ChosenSink& other) { return other.kind == &kind; }))
      throw UsageError("the sink '" + name + "' is named twice");
    const auto section = sections.find(name);
    const auto& given = section == sections.end() ? Options() : section->second;
    chosen.push_back({&kind, checked(given, kind.options, "[sink." + name + "]")});
  }
  return chosen;
}

}  // namespace trainrt::metrics
