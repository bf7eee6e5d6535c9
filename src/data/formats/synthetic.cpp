// A linear regression problem out of counters: y = w.x + noise. Only exact arithmetic of the generator and IEEE sums are
// used (no libm), so that the values are the same on every machine.
#include <cmath>
#include <cstring>

#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "data/source/format.hpp"

namespace trainrt::data {

namespace {

enum Purpose : std::uint64_t { for_weights = 1, for_inputs = 2, for_noise = 3 };

double symmetric(Random& random) { return 2 * random.uniform() - 1; }

/// Mean 0, deviation 1: the sum of twelve uniform numbers (Irwin and Hall).
double bell(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

class SyntheticSource final : public Source {
 public:
  SyntheticSource(std::uint64_t samples, std::size_t features, double noise, std::uint64_t seed)
      : samples_(samples), noise_(noise), seed_(seed), weights_(features) {
    fields_ = {{"x", DType::f32, {static_cast<std::int64_t>(features)}}, {"y", DType::f32, {}}};
    Random random(mix_seed(seed, for_weights), 0);
    for (auto& weight : weights_) weight = symmetric(random);
  }

  std::uint64_t size() const override { return samples_; }
  bool is_resident() const override { return true; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<float> x(weights_.size());
    for (auto& column : columns) {
      const auto bytes = sample_bytes(fields_[column.field]);
      column.values.resize(samples.size() * bytes);
      auto* out = column.values.data();
      for (const auto sample : samples) {
        fill_inputs(sample, x);
        const auto y = target(sample, x);
        std::memcpy(out, column.field == 0 ? x.data() : &y, bytes);
        out += bytes;
      }
    }
  }

 private:
  void fill_inputs(std::uint64_t sample, std::vector<float>& x) const {
    Random random(mix_seed(seed_, for_inputs), sample);
    for (auto& value : x) value = static_cast<float>(symmetric(random));
  }

  float target(std::uint64_t sample, const std::vector<float>& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += weights_[i] * static_cast<double>(x[i]);
    Random random(mix_seed(seed_, for_noise), sample);
    return static_cast<float>(sum + noise_ * bell(random));
  }

  std::uint64_t samples_;
  double noise_;
  std::uint64_t seed_;
  std::vector<double> weights_;
  std::vector<Dataset::Field> fields_;
};

void require(bool good, const Options& options, std::string_view key, const std::string& valid) {
  if (!good) throw UsageError("synthetic data: " + std::string(key) + " is " + options.text(key) + "; it must be " + valid);
}

void check_synthetic_options(const Options& options) {
  require(options.integer("samples") >= 1, options, "samples", "at least 1");
  const auto features = options.integer("features");
  require(features >= 1 && features <= 1 << 24, options, "features", "from 1 to 16777216");
  const auto noise = options.real("noise");
  require(std::isfinite(noise) && noise >= 0, options, "noise", "0 or more");
}

std::unique_ptr<Source> open_synthetic(const DataFile&, const FileContent&, const Options& options, bool) {
  return std::make_unique<SyntheticSource>(static_cast<std::uint64_t>(options.integer("samples")),
                                           static_cast<std::size_t>(options.integer("features")), options.real("noise"),
                                           static_cast<std::uint64_t>(options.integer("seed")));
}

FileContent probe_synthetic(const DataFile& none, const Options& options) {
  check_synthetic_options(options);
  const auto source = open_synthetic(none, {}, options, true);
  return {source->size(), source->fields(), {}};
}

}  // namespace

namespace plugins {

extern const Format synthetic{
    .name = "synthetic",
    .help = "linear regression problem made from a seed, without a file: fields x [features] and y",
    .options =
        {{.key = "samples",
          .type = OptionType::integer,
          .default_value = "4096",
          .help = "number of samples",
          .range = {.most = 0x1p62}},
         {.key = "features", .type = OptionType::integer, .default_value = "8", .help = "length of x"},
         {.key = "noise",
          .type = OptionType::real,
          .default_value = "0.01",
          .help = "standard deviation added to y",
          .range = {.least = 0}},
         {.key = "seed", .type = OptionType::integer, .default_value = "1", .help = "another seed, another problem"}},
    .probe = probe_synthetic,
    .open = open_synthetic,
    .has_files = false};

}  // namespace plugins

}  // namespace trainrt::data
