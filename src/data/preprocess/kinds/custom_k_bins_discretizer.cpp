#include "data/preprocess/binning.hpp"

namespace trainrt::data::plugins {

namespace {

class CustomKBinsDiscretizer final : public Binning {
 public:
  static constexpr auto parameters =
      binning_parameters({"bins", ParameterType::numbers_per_column,
                          "the edges of the bins: increasing numbers for all columns, or for each column by name"});
  explicit CustomKBinsDiscretizer(const Parameters& given) : Binning(given) {
    set_edges(
        bins_per_column(given.json("bins"), columns(), [](const auto& value) { return numbers_from("bins", value); }));
  }
};

}  // namespace

extern const PreprocessorKind custom_k_bins_discretizer{
    .name = "CustomKBinsDiscretizer",
    .help =
        "replace each number by the number of its bin between given edges, from 0, as i64; "
        "NaN and numbers outside all bins become -1",
    .parameters = CustomKBinsDiscretizer::parameters,
    .make = make_preprocessing<CustomKBinsDiscretizer>};

}  // namespace trainrt::data::plugins
