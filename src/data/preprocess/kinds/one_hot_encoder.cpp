#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

class OneHotEncoder final : public LimitedEncoding {
 public:
  using LimitedEncoding::LimitedEncoding;

 private:
  Dataset::Field output(std::size_t at, const Dataset::Field& from) const override {
    return {from.name, DType::u8, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    auto* const out = zeroed<std::uint8_t>(to, samples * width);
    for_each_category(from, [&](std::size_t sample, const Category* value) {
      const auto number = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
      if (number != Categories::unknown) out[sample * width + static_cast<std::size_t>(number)] = 1;
    });
  }
};

}  // namespace

extern const PreprocessorKind one_hot_encoder{
    .name = "OneHotEncoder",
    .help =
        "replace each category by a vector of u8, with 1 at the category's number and 0 elsewhere; "
        "a value that did not occur in fit() becomes a vector of zeros",
    .stats = "unique_values(COLUMN)",
    .parameters = OneHotEncoder::parameters,
    .make = make_preprocessing<OneHotEncoder>};

}  // namespace trainrt::data::plugins
