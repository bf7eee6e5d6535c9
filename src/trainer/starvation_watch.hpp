#pragma once
#include <map>
#include <optional>
#include <string>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::trainer {

/// Finds datasets that steps wait for. Time is a value, so that tests can make it up.
class StarvationWatch {
 public:
  /// A text if since an earlier look, at least `shortest_s` ago, the train thread has waited for this dataset for more than
  /// `most_waiting` of the time: how much, what reading takes, and what helps. Once for each dataset.
  std::optional<std::string> look(const DatasetImpl& dataset, double now_s);
  static constexpr double shortest_s = 20, most_waiting = 0.2;

 private:
  struct Look {
    double at_s = 0, waited_s = 0;
    std::array<double, data::stage_count> stages{};
    bool is_said = false;
  };
  std::map<std::string, Look> looks_;  ///< by dataset
};

}  // namespace trainrt::trainer
