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

namespace trainrt::data {

/// A value that counts as one of several: a whole number (also if its column holds reals or bool: 1.0 is 1, true is 1),
/// another number, or a text. In their order numbers come first, by value, then texts by their bytes.
using Category = std::variant<std::int64_t, double, std::string>;

Category category_of(double value);
bool is_before(const Category& a, const Category& b);
std::string words_of(const Category& category);  ///< for messages
/// UsageError for a text that is no UTF-8, which JSON does not take.
nlohmann::json json_of(const Category& category);
/// UsageError for what is no number, text or truth value.
Category category_from(const nlohmann::json& json);
void write(PackedWriter& into, const Category& category);
Category read_category(PackedReader& from);

struct CategoryHash {
  std::size_t operator()(const Category& category) const { return std::hash<Category>()(category); }
};
template <class T>
using ByCategory = std::unordered_map<Category, T, CategoryHash>;

/// Calls `see` with each of the column's values: numbers (NaN is none), or a text a sample.
void for_each_category(const Table::Column& column, const std::function<void(std::size_t at, const Category* value)>& see);

/// The parts of a text between spaces, as Python's split(" ").
std::vector<std::string_view> tokens_of(std::string_view text);

}  // namespace trainrt::data
