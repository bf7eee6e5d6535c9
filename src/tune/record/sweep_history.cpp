#include "tune/record/sweep_history.hpp"

#include <algorithm>

namespace trainrt::tune {

History history_of(const Sweep& sweep) {
  History history;
  JournalReader reader(sweep.journal());
  reader.read([&](int writer, const std::string& json) { history.take(writer, json); });
  return history;
}

std::uint64_t trials_done(const Sweep& sweep, const History& history) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(history.trials(), [&](const auto& each) { return each.second.is_done(sweep.max_failures()); }));
}

bool have_all_failed(const Sweep& sweep, const History& history) {
  if (history.trials().empty() || trials_done(sweep, history) < sweep.trials()) return false;
  return std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.state == Trial::State::failed; });
}

}  // namespace trainrt::tune
