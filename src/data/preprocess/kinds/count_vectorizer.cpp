#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// How often each known word is in a text, as i64: the most frequent ones first.
class CountVectorizer final : public Encoding {
 public:
  explicit CountVectorizer(Parameters& given)
      : Encoding(given),
        most_(static_cast<std::size_t>(given.whole_if_given("max_features", 1, most_features).value_or(most_features))) {}

 private:
  static constexpr std::int64_t most_features = 1 << 24;
  std::string_view stat_name() const override { return "token_counts"; }
  CategoryStatistic::Of of() const override { return CategoryStatistic::Of::tokens; }
  void require(const Dataset::Field& field) const override { require_text(field); }
  std::vector<CategoryStatistic::Counted> kept(const std::string&, const CategoryStatistic& found) const override {
    return found.most_frequent(most_);
  }
  /// Each with its count: [["a", 3], ["b", 1]].
  nlohmann::json json_of_kept(const CategoryStatistic::Counted& kept) const override {
    return {json_of(kept.value), kept.count};
  }
  Category category_of_kept(const nlohmann::json& json) const override {
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_number_unsigned())
      throw UsageError("token_counts must be a list of words with their counts");
    return json[0].get<std::string>();
  }
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const override {
    require_text(from);
    return {from.name, DType::i64, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    to.values.resize(samples * width * sizeof(std::int64_t));
    auto* const out = reinterpret_cast<std::int64_t*>(to.values.data());
    for (std::size_t i = 0; i < samples; ++i)
      for (const auto token : tokens_of(text_at(from, i)))
        if (const auto number = categories(at).number_of(std::string(token)); number != Categories::unknown)
          ++out[i * width + static_cast<std::size_t>(number)];
  }
  std::size_t most_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind count_vectorizer{
    .name = "CountVectorizer",
    .help = "counts each known word of a text",
    .parameters = "columns, max_features, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<CountVectorizer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
