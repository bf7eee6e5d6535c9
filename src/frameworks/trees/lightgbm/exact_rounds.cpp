// The methods of LightgbmParameters that make a resumed run exact although LightGBM draws random numbers.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "frameworks/trees/lightgbm/lightgbm_parameters.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Returns the seed of a round for the parameter `name`. It differs from `given` and from the seeds of neighbouring
/// rounds, since LightGBM ignores a seed that has not changed.
std::int32_t seed_of_round(std::string_view name, std::int32_t given, int round) {
  auto bits = mixed(static_cast<std::uint32_t>(given));
  for (const auto letter : name) bits = mixed(bits ^ static_cast<unsigned char>(letter));
  bits = mixed(bits ^ static_cast<std::uint32_t>(round));
  auto seed = static_cast<std::int32_t>(bits & 0x7ffffffeU) | (round & 1);
  if (seed == given) seed ^= 2;
  return seed;
}

}  // namespace

std::string LightgbmParameters::stateful_parameter() const {
  for (const auto& [name, values] : std::initializer_list<std::pair<std::string_view, std::array<std::string_view, 4>>>{
           {"boosting", {"dart", "rf", "random_forest", "goss"}}, {"data_sample_strategy", {"goss"}}})
    if (const auto* value = find(name); value != nullptr && std::ranges::find(values, *value) != values.end())
      return fmt::format("{} = {}", keys_.find(name)->second, *value);
  for (const auto* const name : {"use_quantized_grad", "enable_bundle", "bagging_by_query"})
    if (is_true(name)) return fmt::format("{} = {}", keys_.find(name)->second, *find(name));
  for (const auto& [name, key] : keys_)
    if (name.starts_with("cegb_") && name != "cegb_tradeoff") return fmt::format("{} = {}", key, *find(name));
  return {};
}

bool LightgbmParameters::draws_rows() const {
  return number("bagging_freq", 0) > 0 && (number("bagging_fraction", 1) < 1 || number("pos_bagging_fraction", 1) < 1 ||
                                           number("neg_bagging_fraction", 1) < 1);
}

std::vector<std::pair<std::string_view, int>> LightgbmParameters::drawing_seeds() const {
  std::vector<std::pair<std::string_view, int>> seeds;  // with LightGBM's defaults
  if (draws_rows()) seeds.emplace_back("bagging_seed", 3);
  if (number("feature_fraction", 1) < 1 || number("feature_fraction_bynode", 1) < 1)
    seeds.emplace_back("feature_fraction_seed", 2);
  if (is_true("extra_trees")) seeds.emplace_back("extra_seed", 6);
  if (is("objective", "rank_xendcg") || is("objective", "xendcg") || is("objective", "xe_ndcg") ||
      is("objective", "xe_ndcg_mart") || is("objective", "xendcg_mart"))
    seeds.emplace_back("objective_seed", 5);
  return seeds;
}

std::vector<std::string> LightgbmParameters::parameters_of_round(int round) const {
  std::vector<std::string> texts;
  const auto seeds = drawing_seeds();
  if (seeds.empty() || !stateful_parameter().empty()) return texts;
  std::string text;
  for (const auto& [name, default_seed] : seeds) {
    const auto given = static_cast<std::int32_t>(number(name, number("seed", default_seed)));
    auto seed_round = round;
    if (name == "bagging_seed") {
      const auto every = static_cast<int>(number("bagging_freq", 1));
      seed_round = round / every * every;  // LightGBM uses one sample of rows for `every` rounds
      const auto* fraction = find("bagging_fraction");
      // LightGBM draws a new sample only if a parameter has changed, so this first call sets a different fraction.
      texts.push_back(fmt::format("bagging_fraction={}", 0.9 * number("bagging_fraction", 1)));
      text += fmt::format("bagging_fraction={} ", fraction == nullptr ? "1" : *fraction);
    }
    if (name == "objective_seed") text += fmt::format("objective={} ", *find("objective"));
    text += fmt::format("{}={} ", name, seed_of_round(name, given, seed_round));
  }
  texts.push_back(std::move(text));
  return texts;
}

std::string LightgbmParameters::given_seeds() const {
  std::string text;
  if (!stateful_parameter().empty()) return text;
  for (const auto& [name, default_seed] : drawing_seeds()) {
    if (const auto* value = find(name))
      text += fmt::format("{}={} ", name, *value);
    else if (find("seed") == nullptr)
      text += fmt::format("{}={} ", name, default_seed);
    if (name == "objective_seed") text += fmt::format("objective={} ", *find("objective"));
  }
  if (const auto* seed = find("seed"); seed != nullptr && !drawing_seeds().empty()) text += fmt::format("seed={}", *seed);
  return text;
}

}  // namespace trainrt::frameworks::trees
