#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

namespace {

class LabelEncoder final : public Numbering {
 public:
  static constexpr ParameterSpec parameters[] = {
      {"label_column", ParameterType::name_or_names, "name of the column with the labels"},
      keyword_only({"output_column", ParameterType::name_or_names,
                    "name of the new column; by default, it replaces the column with the labels", "=label_column"})};
  explicit LabelEncoder(const Parameters& given) : Numbering(given, "label_column", "output_column") {}

 private:
  bool refuses_unknown() const override { return true; }  // a loss function cannot use -1
};

}  // namespace

extern const PreprocessorKind label_encoder{
    .name = "LabelEncoder",
    .help =
        "replace each label by its number, from 0 in sorted order, as i64; a label that did not occur in fit() is an error",
    .stats = "unique_values(COLUMN)",
    .parameters = LabelEncoder::parameters,
    .make = make_preprocessing<LabelEncoder>};

}  // namespace trainrt::data::plugins
