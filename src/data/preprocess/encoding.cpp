#include "data/preprocess/encoding.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/category.hpp"
#include "data/preprocess/numbers.hpp"
#include "data/text/in_context.hpp"

namespace trainrt::data {

namespace {

using Input = EncoderTraits::Input;
constexpr std::int64_t unknown = -1;

class Encoder final : public Columnwise {
 public:
  Encoder(const Parameters& given, const EncoderTraits& traits)
      : Columnwise(given, traits.columns, traits.outputs),
        traits_(traits),
        limits_(columns().size(), std::numeric_limits<std::size_t>::max()) {
    if (traits.input == Input::words)
      limit_words(given.json("max_features"));
    else if (traits.is_vector)
      limit_categories(given.json("max_categories"));
  }

  void set_stats(const nlohmann::json& stats) override {
    numbers_.clear();
    for (const auto& column : columns()) {
      auto& numbers = numbers_.emplace_back();
      for (const auto& each : ColumnStats{stats, column}.list(stat_name())) {
        const auto value = category_of_stat(each);
        if (!numbers.try_emplace(value, static_cast<std::int64_t>(numbers.size())).second)
          throw UsageError(fmt::format("the category {} occurs twice in \"stats\"", quoted(value)));
      }
    }
  }

 private:
  void limit_words(const nlohmann::json& max) {
    if (!max.is_null()) limits_.assign(limits_.size(), max.get<std::size_t>());
  }

  void limit_categories(const nlohmann::json& limits) {
    if (limits.is_null()) return;
    if (!limits.is_object()) throw UsageError("max_categories must be " + valid_values(limited_encoder_parameters[1]));
    for (const auto& [column, limit] : limits.items()) {
      const auto at = std::ranges::find(columns(), column);
      if (at == columns().end())
        throw UsageError(
            fmt::format("max_categories names '{}', which is not one of the columns: {}", column, join(columns())));
      limits_[static_cast<std::size_t>(at - columns().begin())] =
          static_cast<std::size_t>(integer_from("max_categories", limit, std::numeric_limits<std::int64_t>::max()));
    }
  }

  std::string_view stat_name() const { return traits_.input == Input::words ? "token_counts" : "unique_values"; }

  Category category_of_stat(const nlohmann::json& json) const {
    if (traits_.input != Input::words) return category_from(json);
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_number_unsigned())
      throw UsageError("token_counts must be a list of words with their counts: [[\"word\", 3]]");
    return json[0].get<std::string>();
  }

  void require(const Dataset::Field& field) const override {
    if (traits_.input == Input::words) return require_text(field);
    if (traits_.input == Input::values && !is_text(field)) require_number(field);
    if (traits_.input == Input::values) return;
    if (is_text(field) || !is_plain_number(field.dtype))
      throw UsageError(fmt::format("column '{}' contains {}; it must contain lists of numbers", field.name,
                                   is_text(field) ? "texts" : name_of(field.dtype)));
  }

  std::unique_ptr<Statistic> statistic() const override {
    return std::make_unique<CategoryStatistic>(traits_.input == Input::words ? CategoryStatistic::Of::words
                                               : traits_.ignores_missing     ? CategoryStatistic::Of::non_missing
                                                                             : CategoryStatistic::Of::values);
  }

  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    auto kept = static_cast<const CategoryStatistic&>(computed).most_frequent(limits_[at]);
    if (traits_.input != Input::words)
      std::ranges::sort(kept, [](const auto& a, const auto& b) { return is_before(a.value, b.value); });
    auto values = nlohmann::json::array();
    in_context(fmt::format("column '{}'", columns()[at]), [&] {
      for (const auto& [value, count] : kept)
        if (traits_.input == Input::words)
          values.push_back({json_of(value), count});
        else
          values.push_back(json_of(value));
    });
    stats[stat_key(stat_name(), columns()[at])] = std::move(values);
  }

  Dataset::Field output(std::size_t at, const Dataset::Field& from) const override {
    const auto width = static_cast<std::int64_t>(numbers_[at].size());
    return {from.name, traits_.dtype, traits_.is_vector ? Shape{width} : Shape{}, false};
  }

  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    if (!traits_.is_vector) return number(at, from, samples, to);
    traits_.dtype == DType::u8 ? count<std::uint8_t>(at, from, samples, to) : count<std::int64_t>(at, from, samples, to);
  }

  std::int64_t number_of(std::size_t at, const Category& value) const {
    const auto found = numbers_[at].find(value);
    return found == numbers_[at].end() ? unknown : found->second;
  }

  void number(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
    auto* const out = zeroed<std::int64_t>(to, samples);
    for_each_category(from, [&](std::size_t sample, const Category* value) {
      out[sample] = value != nullptr ? number_of(at, *value) : unknown;
      if (out[sample] == unknown && traits_.refuses_unknown)
        throw UsageError(fmt::format("column '{}' contains {}, which did not occur when the encoder was fitted",
                                     from.field.name, value != nullptr ? quoted(*value) : "NaN"));
    });
  }

  template <class T>
  void count(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
    const auto width = numbers_[at].size();
    auto* const out = zeroed<T>(to, samples * width);
    const auto add = [&](std::size_t sample, const Category& value) {
      if (const auto number = number_of(at, value); number != unknown)
        ++out[sample * width + static_cast<std::size_t>(number)];
    };
    if (traits_.input == Input::words) {
      for (std::size_t i = 0; i < samples; ++i)
        for (const auto word : split_words(text_at(from, i))) add(i, std::string(word));
      return;
    }
    std::size_t sample = 0;
    for_each_category(from, [&](std::size_t index, const Category* value) {
      sample = sample_of(from, index, sample);
      if (value != nullptr) add(sample, *value);
    });
  }

  /// Returns the index of the sample that contains the value with the index `index` of a column. Precondition: this sample
  /// is not before the sample `earliest`.
  std::size_t sample_of(const Table::Column& from, std::size_t index, std::size_t earliest) const {
    if (traits_.input == Input::values) return index;
    if (!from.field.varies) return index / static_cast<std::size_t>(element_count(from.field.sample_shape));
    while (index * size_of(from.field.dtype) >= from.ends[earliest]) ++earliest;
    return earliest;
  }

  EncoderTraits traits_;
  std::vector<std::size_t> limits_;                ///< for each of columns(), the maximum number of categories
  std::vector<ByCategory<std::int64_t>> numbers_;  ///< for each of columns(), the number of each category
};

}  // namespace

std::unique_ptr<Preprocessing> make_encoder(const Parameters& given, const EncoderTraits& traits) {
  return std::make_unique<Encoder>(given, traits);
}

}  // namespace trainrt::data
