#include <fmt/format.h>

#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"

namespace trainrt::data::plugins {

namespace {

constexpr std::string_view every_form = "K";

/// The indices 0, `distance`, 2 * `distance`, ... of every K-th sample, for a dataset of `samples` samples.
struct EveryKth {
  std::uint64_t distance = 1, samples = 0;

  std::uint64_t size() const { return count_below(samples); }
  std::uint64_t operator[](std::uint64_t at) const { return at * distance; }
  std::uint64_t count_below(std::uint64_t sample) const { return (sample + distance - 1) / distance; }
};

Step make_every(const std::string& text) {
  KeyWords words(text, every_form);
  const auto distance = words.take_number(1);
  words.end();
  return {.effect = Effect::thins, .apply = [distance](const DatasetPlan& input) {
            const EveryKth rows{distance, input.source->size()};
            return chosen(input, rows, fmt::format("{} of {} samples, every {}", rows.size(), rows.samples, distance));
          }};
}

}  // namespace

extern const OperationKind every{
    .name = "every",
    .help = "keeps samples 0, K, 2K, ...; applied after the keys `explode`, `sequence` and `pack`",
    .form = every_form,
    .make = make_every,
    .order = 3};

}  // namespace trainrt::data::plugins
