#include "data/preprocess/numbering.hpp"

namespace trainrt::data {

namespace {

/// The codes of pandas' categorical type: the number of a category, -1 for one that was not there.
class Categorizer final : public Numbering {
 public:
  using Numbering::Numbering;

 private:
  CategoryStatistic::Of of() const override { return CategoryStatistic::Of::values_if_there; }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind categorizer{
    .name = "Categorizer",
    .help = "makes the codes of a categorical column; missing values are none",
    .parameters = "columns, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<Categorizer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
