#include "tune/record/decision_log.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace trainrt::tune {

void DecisionLog::write(const Decision& decision, const Positions& read) {
  using Json = nlohmann::ordered_json;
  const auto& report = decision.report;
  auto moved = Json::array();
  for (const auto& [writer, bytes] : read) {
    auto& before = before_[writer];
    if (before != bytes) moved.push_back(Json::array({writer, bytes - before}));
    before = bytes;
  }
  reads_.append(Json{{"trial", report.trial},
                     {"generation", report.at.generation},
                     {"iteration", report.at.iteration},
                     {"from_start", !std::exchange(has_written_, true)},
                     {"moved", std::move(moved)}}
                    .dump(),
                true);
  records_.append(decision_record(decision), true);
}

}  // namespace trainrt::tune
