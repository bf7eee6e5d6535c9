#include "data/preprocess/binning.hpp"

namespace trainrt::data::plugins {

constexpr ParameterSpec number_of_bins{.name = "bins",
                                       .type = ParameterType::integer_per_column,
                                       .help = "the number of bins, for all columns or for each column by name",
                                       .max = 1 << 16};
constexpr auto uniform_bins_parameters = binning_parameters(number_of_bins);

extern const PreprocessorKind uniform_k_bins_discretizer{
    .name = "UniformKBinsDiscretizer",
    .help =
        "replace each number by the number of its bin, "
        "from 0, as i64, with bins of equal width between minimum and maximum; NaN and numbers outside all bins become -1",
    .stats = "COLUMN (the edges of its bins)",
    .parameters = uniform_bins_parameters,
    .make = [](const Parameters& given) { return make_binning(given, number_of_bins.max); }};

}  // namespace trainrt::data::plugins
