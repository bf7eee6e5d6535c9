#include <trainrt/error.hpp>

#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"
#include "data/preprocess/words.hpp"

namespace trainrt::data::plugins {

namespace {

class CountVectorizer final : public Encoding {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      tokenization_parameter,
      {"max_features", ParameterType::integer, "number of words to count, the most frequent ones; by default, all words",
       "null"},
      keyword_only(output_columns_parameter)};

  explicit CountVectorizer(const Parameters& given) : Encoding(given) {
    if (const auto& max = given.json("max_features"); !max.is_null()) max_features_ = max.get<std::size_t>();
  }

 private:
  std::string_view stat_name() const override { return "token_counts"; }
  std::unique_ptr<Statistic> statistic() const override {
    return std::make_unique<CategoryStatistic>(CategoryStatistic::Of::words);
  }
  void require(const Dataset::Field& field) const override { require_text(field); }
  /// Adds the words and their counts to the results of the fit: [["a", 3], ["b", 1]].
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    auto counts = nlohmann::json::array();
    for (const auto& each : static_cast<const CategoryStatistic&>(computed).most_frequent(max_features_))
      counts.push_back({json_of(each.value), each.count});
    stats[stat_key(stat_name(), columns()[at])] = std::move(counts);
  }
  Category category_of_stat(const nlohmann::json& json) const override {
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_number_unsigned())
      throw UsageError("token_counts must be a list of words with their counts: [[\"word\", 3]]");
    return json[0].get<std::string>();
  }
  Dataset::Field output(std::size_t at, const Dataset::Field& from) const override {
    return {from.name, DType::i64, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    auto* const out = zeroed<std::int64_t>(to, samples * width);
    for (std::size_t i = 0; i < samples; ++i)
      for (const auto word : split_words(text_at(from, i)))
        if (const auto number = categories(at).number_of(std::string(word)); number != Categories::unknown)
          ++out[i * width + static_cast<std::size_t>(number)];
  }
  std::size_t max_features_ = 1 << 24;
};

}  // namespace

extern const PreprocessorKind count_vectorizer{
    .name = "CountVectorizer",
    .help =
        "replace each text by the counts of its words, as i64, the most frequent word of fit() first; "
        "words are separated by single spaces, and words that did not occur in fit() are not counted",
    .stats = "token_counts(COLUMN)",
    .parameters = CountVectorizer::parameters,
    .make = make_preprocessing<CountVectorizer>};

}  // namespace trainrt::data::plugins
