#include "data/order/mixed_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

enum MixedPurpose : std::uint64_t { for_slots = 1, for_passes = 2 };

std::uint64_t sum_of_shares(std::span<const MixedPart> parts) {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.share;
  return sum;
}

/// Distributes the samples of an epoch that are left after the shares of the sources were rounded down. The sources that
/// lost the largest fractions (`rests`) get one more sample each.
void share_rest(std::vector<MixedPart>& parts, std::vector<double> rests, std::uint64_t samples) {
  for (auto left = samples - sum_of_shares(parts); left > 0; --left) {
    const auto most = std::max_element(rests.begin(), rests.end());
    ++parts[static_cast<std::size_t>(most - rests.begin())].share;
    *most -= 1;
  }
}

}  // namespace

std::vector<double> weights_of(std::string_view text) {
  std::vector<double> weights;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto word = trim(text.substr(at, end - at));
    const auto number = parse_real(word);
    if (!number || !std::isfinite(*number) || *number <= 0)
      throw UsageError(fmt::format("weights: '{}' is not a number above 0; valid are weights such as 0.7, 0.3", word));
    weights.push_back(*number);
    at = end + 1;
  }
  return weights;
}

std::vector<MixedPart> mixed_parts(std::span<const std::uint64_t> sizes, std::span<const double> weights) {
  if (sizes.size() != weights.size())
    throw UsageError(fmt::format("weights has {}, but the key source lists {}; each source needs one weight",
                                 counted(std::ssize(weights), "number"), counted(std::ssize(sizes), "source")));
  const auto samples = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  const auto all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<MixedPart> parts;
  std::vector<double> rests;
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto exact = static_cast<double>(samples) * (weights[i] / all);
    const auto share = std::min(static_cast<std::uint64_t>(exact), samples - sum_of_shares(parts));
    parts.push_back({first, sizes[i], share});
    rests.push_back(exact - static_cast<double>(share));
    first += sizes[i];
  }
  share_rest(parts, std::move(rests), samples);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].share == 0 || parts[i].size == 0)
      throw UsageError(fmt::format("weights: source {} of {} {} in an epoch of {} samples", i + 1, parts.size(),
                                   parts[i].size == 0 ? "has no samples" : "has too low a weight to get a sample",
                                   samples));
  return parts;
}

MixedOrder::MixedOrder(std::vector<MixedPart> parts, std::uint64_t seed, std::uint64_t epoch)
    : parts_(std::move(parts)),
      seed_(seed),
      epoch_(epoch),
      slots_(sum_of_shares(parts_), mix_seed(seed, for_slots, epoch)) {
  constexpr std::uint64_t max_prepared = 1024;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto [first, size, share] = parts_[part];
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + share);
    Passes passes{epoch * share / size, {}};
    const auto end = (epoch * share + share - 1) / size + 1;
    for (auto number = passes.first; end - passes.first <= max_prepared && number < end; ++number)
      passes.prepared.push_back(pass(part, number));
    passes_.push_back(std::move(passes));
  }
}

Permutation MixedOrder::pass(std::size_t part, std::uint64_t number) const {
  return Permutation::quick(parts_[part].size, mix_seed(mix_seed(seed_, for_passes, part), number));
}

std::uint64_t MixedOrder::operator[](std::uint64_t position) const {
  const auto slot = slots_[position];
  const auto part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), slot) - ends_.begin());
  return sample_of(part, slot - (part == 0 ? 0 : ends_[part - 1]));
}

std::uint64_t MixedOrder::sample_of(std::size_t part, std::uint64_t number) const {
  const auto [first, size, share] = parts_[part];
  const auto in_all = epoch_ * share + number;  // number of samples drawn from this source since the first epoch
  const auto& passes = passes_[part];
  const auto at = in_all % size;
  if (passes.prepared.empty()) return first + pass(part, in_all / size)[at];
  return first + passes.prepared[in_all / size - passes.first][at];
}

}  // namespace trainrt::data
