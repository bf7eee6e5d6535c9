#include "data/preprocess/numbering.hpp"

namespace trainrt::data {

namespace {

/// The number of a category; -1 for one that was not there.
class OrdinalEncoder final : public Numbering {
 public:
  explicit OrdinalEncoder(Parameters& given) : Numbering(given) { given.flag("encode_lists", true); }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind ordinal_encoder{
    .name = "OrdinalEncoder",
    .help = "makes the number of a category, from 0 on; -1: unknown",
    .parameters = "columns, encode_lists, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<OrdinalEncoder>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
