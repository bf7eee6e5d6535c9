#include "data/preprocess/numbering.hpp"

namespace trainrt::data {

namespace {

/// The number of a label. One that was not there is an error: no loss takes it.
class LabelEncoder final : public Numbering {
 public:
  explicit LabelEncoder(Parameters& given) : Numbering(given, "label_column", "output_column") {}

 private:
  bool refuses_unknown() const override { return true; }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind label_encoder{
    .name = "LabelEncoder",
    .help = "makes the number of a label, from 0 on",
    .parameters = "label_column, output_column",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<LabelEncoder>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
