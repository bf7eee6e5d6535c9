#include <cmath>
#include <limits>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// The transforms of Yeo and Johnson ("A new family of power transformations", 2000) and of Box and Cox (1964), with a
/// power that is given.
class PowerTransformer final : public Columnwise {
 public:
  explicit PowerTransformer(Parameters& given)
      : Columnwise(given),
        power_(given.number("power")),
        is_box_cox_(given.choice("method", {"yeo-johnson", "box-cox"}, "yeo-johnson") == "box-cox") {}
  bool learns() const override { return false; }

 private:
  Dataset::Field made(std::size_t, const Dataset::Field& from) const override {
    require_number(from);
    return {from.name, real_of(from.dtype), {}, false};
  }
  static double power_of(double base, double power) {
    const auto made = power != 0 ? (std::pow(base, power) - 1) / power : std::log(base);
    return std::isnan(made) ? std::numeric_limits<double>::quiet_NaN() : made;  // the processor's have a sign
  }
  double changed(double value) const {
    if (is_box_cox_) return power_of(value, power_);
    return value >= 0 ? power_of(value + 1, power_) : -power_of(1 - value, 2 - power_);
  }
  void convert(std::size_t, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      fill_reals(to, samples, [&](std::size_t i) { return changed(static_cast<double>(values[i])); });
    });
  }
  double power_;
  bool is_box_cox_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind power_transformer{
    .name = "PowerTransformer",
    .help = "makes numbers more like normal ones, by a power",
    .parameters = "columns, power, method (yeo-johnson, box-cox), output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<PowerTransformer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
