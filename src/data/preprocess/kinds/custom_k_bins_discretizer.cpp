#include "data/preprocess/binning.hpp"

namespace trainrt::data {

namespace {

/// The number of a bin, between edges that are given.
class CustomKBinsDiscretizer final : public Binning {
 public:
  explicit CustomKBinsDiscretizer(Parameters& given) : Binning(given) {
    set_edges(of_each_column<std::vector<double>>(given.any("bins"), columns(), [](const nlohmann::json& value) {
      Parameters edges(nlohmann::json::object({{"bins", value}}));
      return edges.numbers("bins", {});
    }));
  }
  bool learns() const override { return false; }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind custom_k_bins_discretizer{
    .name = "CustomKBinsDiscretizer",
    .help = "makes the number of a bin, between given edges",
    .parameters = "columns, bins, right, include_lowest, duplicates (raise, drop), output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> {
      return std::make_unique<CustomKBinsDiscretizer>(given);
    }};

}  // namespace plugins

}  // namespace trainrt::data
