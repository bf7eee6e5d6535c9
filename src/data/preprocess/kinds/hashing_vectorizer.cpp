#include "data/preprocess/category.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

class HashingVectorizer final : public Columnwise {
 public:
  static constexpr ParameterSpec parameters[] = {columns_parameter, num_features_parameter, tokenization_parameter,
                                                 keyword_only(output_columns_parameter)};
  explicit HashingVectorizer(const Parameters& given)
      : Columnwise(given), width_(given.get<std::uint32_t>("num_features")) {}

 private:
  void require(const Dataset::Field& field) const override { require_text(field); }
  Dataset::Field output(std::size_t, const Dataset::Field& from) const override {
    return {from.name, DType::i64, {width_}, false};
  }
  void convert(std::size_t, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    auto* const out = zeroed<std::int64_t>(to, samples * width_);
    for (std::size_t i = 0; i < samples; ++i)
      for (const auto word : split_words(text_at(from, i))) ++out[i * width_ + hashed_feature(word, width_)];
  }
  std::uint32_t width_;
};

}  // namespace

extern const PreprocessorKind hashing_vectorizer{
    .name = "HashingVectorizer",
    .help =
        "replace each text by a vector of `num_features` counts, as i64: "
        "each word counts at the position that its SHA-256 hash selects; words are separated by single spaces",
    .parameters = HashingVectorizer::parameters,
    .make = make_preprocessing<HashingVectorizer>};

}  // namespace trainrt::data::plugins
