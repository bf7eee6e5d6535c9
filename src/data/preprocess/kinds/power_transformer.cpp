#include <cmath>
#include <limits>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

/// The transforms of Yeo and Johnson ("A new family of power transformations", 2000) and of Box and Cox (1964).
class PowerTransformer final : public Columnwise {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      {"power", ParameterType::number, "the exponent, called lambda by scikit-learn"},
      {"method", ParameterType::choice, "the transform: box-cox is for positive numbers, and yeo-johnson for all numbers",
       "\"yeo-johnson\"", "yeo-johnson, box-cox"},
      keyword_only(output_columns_parameter)};

  explicit PowerTransformer(const Parameters& given)
      : Columnwise(given), power_(given.get<double>("power")), is_box_cox_(given.text("method") == "box-cox") {}

 private:
  static double power_of(double base, double power) {
    const auto result = power != 0 ? (std::pow(base, power) - 1) / power : std::log(base);
    return std::isnan(result) ? std::numeric_limits<double>::quiet_NaN() : result;  // a computed NaN may have a sign
  }
  double transformed(double value) const {
    if (is_box_cox_) return power_of(value, power_);
    return value >= 0 ? power_of(value + 1, power_) : -power_of(1 - value, 2 - power_);
  }
  void convert(std::size_t, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      fill_reals(to, samples, [&](std::size_t i) { return transformed(static_cast<double>(values[i])); });
    });
  }
  double power_;
  bool is_box_cox_;
};

}  // namespace

extern const PreprocessorKind power_transformer{
    .name = "PowerTransformer",
    .help = "make the distribution of numbers more like a normal one, by the power transform of Yeo-Johnson or Box-Cox",
    .parameters = PowerTransformer::parameters,
    .make = make_preprocessing<PowerTransformer>};

}  // namespace trainrt::data::plugins
