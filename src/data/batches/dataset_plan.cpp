#include "data/batches/dataset_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

namespace trainrt::data {

namespace {

/// Returns the last step that draws samples by weight, or nullptr if the plan does not draw samples by weight.
const DatasetPlan::Applied* draw_of(const DatasetPlan& plan) {
  if (!plan.order.weight_sums) return nullptr;
  const auto found = std::find_if(plan.steps.rbegin(), plan.steps.rend(),
                                  [](const auto& applied) { return applied.step->effect == Effect::draws; });
  return found == plan.steps.rend() ? nullptr : &*found;
}

/// Throws UsageError if `step` cannot follow the steps of `plan`.
void require_combinable(const DatasetPlan& plan, const std::string& name, const Step& step) {
  const auto fields = step.fields(plan.source->fields());
  if (!plan.order.mixed.empty() && step.effect != Effect::thins)
    throw UsageError(fmt::format(
        "{0} cannot be combined with the key 'weights', because {0} changes the numbers of samples of the sources", name));
  const auto* const draw = draw_of(plan);
  if (draw == nullptr || step.effect == Effect::draws) return;
  try {
    draw->step->fields(fields);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} cannot follow {}: {}", name, draw->name, error.what()));
  }
}

/// Returns `parts`, the sources that the key `weights` mixes, as they are after a step that has removed samples
/// (Effect::thins). Each source keeps its share of the epoch. Throws UsageError if no sample of a source is left.
std::vector<MixedPart> thinned(const std::vector<MixedPart>& parts, const Step::Result& result, const std::string& name) {
  std::vector<std::uint64_t> sizes;
  std::vector<double> shares;
  for (const auto& part : parts) {
    sizes.push_back(result.count_below(part.first + part.size) - result.count_below(part.first));
    shares.push_back(static_cast<double>(part.share));
    if (sizes.back() == 0)
      throw UsageError(fmt::format("{} removes all samples of source {} of {}, which the key 'weights' mixes", name,
                                   sizes.size(), parts.size()));
  }
  return mixed_parts(sizes, shares);
}

}  // namespace

DatasetPlan DatasetPlan::with(const std::string& step_name, const Step& step) const {
  require_combinable(*this, step_name, step);
  auto result = step.apply(*this);
  auto plan = *this;
  if (!order.mixed.empty()) plan.order.mixed = thinned(order.mixed, result, step_name);
  if (maps && step.effect == Effect::makes)
    plan.maps = std::make_shared<const FieldMaps>(maps->over(result.source->fields()));
  if (step.effect == Effect::draws) plan.order.weight_sums = result.weight_sums;
  plan.source = std::move(result.source);
  plan.steps.push_back({step_name, std::make_shared<const Step>(step), std::move(result.identity)});
  const auto* const draw = draw_of(*this);
  return draw == nullptr || step.effect == Effect::draws ? plan : plan.with(draw->name, *draw->step);
}

std::string DatasetPlan::steps_text() const {
  std::string text;
  for (const auto& [step_name, step, identity] : steps) {
    if (!text.empty()) text += step->effect == Effect::makes ? ", then " : ", of these ";
    text += identity;
  }
  return text;
}

std::uint64_t DatasetPlan::draw_seed(std::int64_t epoch) const {
  constexpr std::uint64_t for_draws = 1;
  return mix_seed(order_seed(order.seed, name, epoch), for_draws);
}

EpochOrder DatasetPlan::order_of(std::int64_t epoch) const {
  const auto size = source->size();
  const auto seed = order_seed(order.seed, name, epoch);
  if (order.weight_sums) return EpochOrder::weighted(order.weight_sums, seed);
  if (!order.shuffle) return EpochOrder::identity(size);
  if (!order.mixed.empty()) return EpochOrder::mixed(size, order.mixed, order_seed(order.seed, name, 0), epoch);
  if (order.blocks.samples > 0) return EpochOrder::in_blocks(size, seed, order.blocks);
  return order.legacy_shuffle ? EpochOrder::legacy_shuffled(size, seed) : EpochOrder::shuffled(size, seed);
}

}  // namespace trainrt::data
