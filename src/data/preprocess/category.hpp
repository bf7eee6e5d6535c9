#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/preprocessor.hpp>

#include "data/bytes/coding/packed.hpp"
#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// A value that encoders distinguish from other values: an integer, a number that is not an integer, or a text. Integers
/// in a column of reals, and bools, also count as integers: 1.0 and true are 1. Numbers sort before texts, numbers by
/// value and texts by their bytes.
using Category = std::variant<std::int64_t, double, std::string>;

bool is_before(const Category& a, const Category& b);
/// Formats a category for a message: 3, 2.5, 'text'.
std::string quoted(const Category& category);
/// json_of() and category_from() convert a category to and from JSON. They throw UsageError for a text that is not valid
/// UTF-8, and for JSON that is not a number, string or bool.
nlohmann::json json_of(const Category& category);
Category category_from(const nlohmann::json& json);

/// Returns a number as f64. Precondition: `number` is not a text.
double as_double(const Category& number);

template <class T>
using ByCategory = std::unordered_map<Category, T>;

/// Splits a text at each single space, as Python's split(" "). Adjacent spaces yield empty words.
std::vector<std::string_view> split_words(std::string_view text);
/// Returns the index of the feature, from 0 to `features` - 1, to which a text is hashed: its SHA-256, as an integer of 256
/// bits, modulo `features`. Ray Data's hashing preprocessors compute the same index. `features` must be positive.
std::uint64_t hashed_feature(std::string_view text, std::uint32_t features);

/// Calls visit(index, value) for each value of a column, in order: `index` counts the values, and `value` is nullptr for
/// NaN. A column of texts has one value per sample. In a column of arrays, each element is a value.
void for_each_category(const Table::Column& column,
                       const std::function<void(std::size_t index, const Category* value)>& visit);

/// Counts how often each distinct value of a column occurs. Throws UsageError for more than 2^24 distinct values, or if
/// the values take more than 1 GiB.
class CategoryStatistic final : public Statistic {
 public:
  /// Determines which values of a column are counted.
  enum class Of : std::uint8_t {
    values,       ///< all values; NaN causes a UsageError
    non_missing,  ///< all values except NaN and empty texts
    words,        ///< the words of texts
  };
  struct Counted {
    Category value;
    std::uint64_t count;
  };

  explicit CategoryStatistic(Of of) : of_(of) {}
  /// Returns the `limit` most frequent values, the most frequent one first. Values with equal counts are sorted.
  std::vector<Counted> most_frequent(std::size_t limit) const;

  std::unique_ptr<Statistic> fresh() const override { return std::make_unique<CategoryStatistic>(of_); }
  void add(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;

 private:
  void count(const Category& value, std::uint64_t times);

  Of of_;
  ByCategory<std::uint64_t> counts_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::data
