#include "data/preprocess/binning.hpp"

namespace trainrt::data::plugins {

constexpr auto custom_bins_parameters =
    binning_parameters({"bins", ParameterType::numbers_per_column,
                        "the edges of the bins: increasing numbers for all columns, or for each column by name"});

extern const PreprocessorKind custom_k_bins_discretizer{
    .name = "CustomKBinsDiscretizer",
    .help =
        "replace each number by the number of its bin between given edges, from 0, as i64; "
        "NaN and numbers outside all bins become -1",
    .parameters = custom_bins_parameters,
    .make = [](const Parameters& given) { return make_binning(given); }};

}  // namespace trainrt::data::plugins
