// Generates a random linear regression problem: y = w.x + noise. The values of a sample are computed from its index by
// exact arithmetic and IEEE additions, without libm, so that they are the same on every machine.
#include <algorithm>
#include <cstring>

#include <trainrt/random.hpp>

#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

enum Purpose : std::uint64_t { for_weights = 1, for_inputs = 2, for_noise = 3 };

double symmetric(Random& random) { return 2 * random.uniform() - 1; }

/// Returns a random number with mean 0 and standard deviation 1: the sum of twelve uniform numbers (Irwin and Hall).
double bell(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

class LinearProblem {
 public:
  LinearProblem(std::size_t features, double noise, std::uint64_t seed) : noise_(noise), seed_(seed), weights_(features) {
    Random random(mix_seed(seed, for_weights), 0);
    for (auto& weight : weights_) weight = symmetric(random);
  }

  std::vector<float> inputs(std::uint64_t sample) const {
    Random random(mix_seed(seed_, for_inputs), sample);
    std::vector<float> x(weights_.size());
    for (auto& value : x) value = static_cast<float>(symmetric(random));
    return x;
  }

  float target(std::uint64_t sample) const {
    const auto x = inputs(sample);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += weights_[i] * static_cast<double>(x[i]);
    Random random(mix_seed(seed_, for_noise), sample);
    return static_cast<float>(sum + noise_ * bell(random));
  }

 private:
  double noise_;
  std::uint64_t seed_;
  std::vector<double> weights_;
};

std::unique_ptr<Source> open_synthetic(const DataFile&, const FileContent&, const Options& options, bool) {
  const auto features = options.integer("features");
  const auto problem = std::make_shared<const LinearProblem>(static_cast<std::size_t>(features), options.real("noise"),
                                                             static_cast<std::uint64_t>(options.integer("seed")));
  const auto read_x = [problem](std::span<const std::uint64_t> samples, std::byte* out) {
    for (const auto sample : samples) {
      const auto x = problem->inputs(sample);
      out = std::ranges::copy(std::as_bytes(std::span(x)), out).out;
    }
  };
  const auto read_y = [problem](std::span<const std::uint64_t> samples, std::byte* out) {
    for (const auto sample : samples) {
      const auto y = problem->target(sample);
      std::memcpy(out, &y, sizeof y);
      out += sizeof y;
    }
  };
  auto source = std::make_unique<RowSource>(static_cast<std::uint64_t>(options.integer("samples")));
  source->add({"x", DType::f32, {features}}, RowReader{read_x, true});
  source->add({"y", DType::f32, {}}, RowReader{read_y, true});
  return source;
}

FileContent probe_synthetic(const DataFile& none, const Options& options) {
  const auto source = open_synthetic(none, {}, options, true);
  return {source->size(), source->fields(), {}};
}

}  // namespace

extern const Format synthetic{
    .name = "synthetic",
    .help = "a random linear regression problem: fields x [features] and y; no file",
    .options = {{.key = "samples",
                 .type = OptionType::integer,
                 .default_value = "4096",
                 .help = "number of samples",
                 .range = {.least = 1, .most = 0x1p62}},
                {.key = "features",
                 .type = OptionType::integer,
                 .default_value = "8",
                 .help = "length of x",
                 .range = {.least = 1, .most = 1 << 24}},
                {.key = "noise",
                 .type = OptionType::real,
                 .default_value = "0.01",
                 .help = "standard deviation of the noise in y",
                 .range = {.least = 0}},
                {.key = "seed", .type = OptionType::integer, .default_value = "1", .help = "seed of the random problem"}},
    .probe = probe_synthetic,
    .open = open_synthetic,
    .has_files = false};

}  // namespace trainrt::data::plugins
