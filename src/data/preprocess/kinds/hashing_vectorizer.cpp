#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/category.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/hashed_feature.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// How many of a text's words hash to each place: a vector of i64 of a width of choice.
class HashingVectorizer final : public Columnwise {
 public:
  explicit HashingVectorizer(Parameters& given)
      : Columnwise(given), width_(static_cast<std::uint32_t>(given.whole("num_features", 1, 1 << 20))) {}
  bool learns() const override { return false; }

 private:
  Dataset::Field made(std::size_t, const Dataset::Field& from) const override {
    require_text(from);
    return {from.name, DType::i64, {width_}, false};
  }
  void convert(std::size_t, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    to.values.resize(samples * width_ * sizeof(std::int64_t));
    auto* const out = reinterpret_cast<std::int64_t*>(to.values.data());
    for (std::size_t i = 0; i < samples; ++i)
      for (const auto token : tokens_of(text_at(from, i))) ++out[i * width_ + hashed_feature(token, width_)];
  }
  std::uint32_t width_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind hashing_vectorizer{
    .name = "HashingVectorizer",
    .help = "counts the words of a text, at places that they hash to",
    .parameters = "columns, num_features, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<HashingVectorizer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
