#include "data/batches/dataset_impl.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt {

void DatasetImpl::add(const std::string& step_name, const data::Step& step) {
  if (walk_.is_being_walked())
    throw UsageError(fmt::format(
        "{}() was called while batches of the dataset are being read; call it before the first epoch", step_name));
  replace(plan_->with(step_name, step));
}

namespace data {

namespace {

/// Throws UsageError if the steps of `plan` (such as filters) differ from `restored`, the steps that the checkpoint
/// describes.
void require_same_steps(const DatasetPlan& plan, const WalkState::StepsIdentity& restored) {
  const auto now = plan.steps_text();
  const auto* const before = std::get_if<std::string>(&restored);
  if (before != nullptr ? *before == now : std::get<std::uint64_t>(restored) == stable_hash(now)) return;
  const auto in_words = [](const std::string& steps) { return steps.empty() ? "all samples" : steps; };
  throw UsageError(
      fmt::format("dataset '{}' has {}, but it had {} at the checkpoint. "
                  "The checkpoint was saved inside an epoch, so the rest of that epoch cannot be resumed. "
                  "Restore the previous samples, or start a run with another name from that checkpoint",
                  plan.name, in_words(now), before == nullptr ? "others" : in_words(*before)));
}

}  // namespace

void WalkState::restore(const Cursor& cursor, StepsIdentity steps) {
  cursor_ = cursor;
  is_restored_ = cursor.epoch >= 0;
  restored_steps_ = std::move(steps);
}

std::optional<std::uint64_t> WalkState::begin(const DatasetPlan& plan, std::int64_t epoch) {
  const bool is_restored = std::exchange(is_restored_, false);
  if (cursor_.in_progress && !is_restored) return std::nullopt;
  const bool continues = is_restored && cursor_.in_progress && cursor_.epoch == epoch && cursor_.position > 0;
  if (continues) require_same_steps(plan, restored_steps_);
  cursor_ = {true, epoch, continues ? cursor_.position : 0};
  return static_cast<std::uint64_t>(cursor_.position);
}

void WalkState::end() {
  cursor_.in_progress = false;
  cursor_.position = 0;
}

std::vector<BatchData> WalkState::take_spare(std::size_t samples, std::size_t count) {
  auto spare = std::exchange(spare_, {});
  return spare.samples == samples && spare.batches.size() == count ? std::move(spare.batches) : std::vector<BatchData>();
}

}  // namespace data

}  // namespace trainrt
