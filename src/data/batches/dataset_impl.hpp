#pragma once
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/dataset_plan.hpp"
#include "data/batches/walk_state.hpp"

namespace trainrt {

/// Implements Dataset. It holds the plan of the dataset (which samples, in which order) and the state of the iterations
/// over its batches. Calls such as filter() replace the plan by a new one. A range of batches keeps the plan with which
/// it was constructed.
class DatasetImpl {
 public:
  explicit DatasetImpl(data::DatasetPlan plan) { replace(std::move(plan)); }

  const data::DatasetPlan& plan() const { return *plan_; }
  std::shared_ptr<const data::DatasetPlan> shared_plan() const { return plan_; }
  const std::shared_ptr<const data::Source>& source() const { return plan_->source; }
  data::WalkState& walk() { return walk_; }
  const data::WalkState& walk() const { return walk_; }

  void replace(data::DatasetPlan plan) { plan_ = std::make_shared<const data::DatasetPlan>(std::move(plan)); }
  /// Replaces the plan by the result of DatasetPlan::with(), and throws its errors. Also throws UsageError during an
  /// iteration over batches of the dataset.
  void add(const std::string& step_name, const data::Step& step) {
    if (walk_.is_being_walked())
      throw UsageError(fmt::format(
          "{}() was called while batches of the dataset are being read; call it before the first epoch", step_name));
    replace(plan_->with(step_name, step));
  }

 private:
  std::shared_ptr<const data::DatasetPlan> plan_;
  data::WalkState walk_;
};

}  // namespace trainrt
