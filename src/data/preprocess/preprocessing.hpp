#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/preprocessor.hpp>

#include "core/plugin.hpp"
#include "data/preprocess/parameters.hpp"
#include "data/preprocess/statistic.hpp"

namespace trainrt::data {

using Fields = std::vector<Dataset::Field>;

/// What a preprocessor does. Nothing changes after learn() or set_stats(): any threads at once.
/// Errors are UsageErrors that do not name the preprocessor: who calls does.
class Preprocessing {
 public:
  virtual ~Preprocessing() = default;

  /// What has to be learned of data with these fields; nothing if it learns nothing.
  virtual std::vector<Wish> wishes(const Fields&) const { return {}; }
  /// What was learned, as JSON: an object, whose keys are named as Ray's.
  virtual nlohmann::json learned(std::span<const Wish>) const { return nullptr; }
  /// Takes what learned() gave, now or in another process. UsageError for anything else.
  virtual void set_stats(const nlohmann::json&) {}
  virtual bool learns() const { return true; }

  virtual Fields fields(const Fields& before) const = 0;
  /// The columns that a column of fields() is made of.
  virtual std::vector<std::string> needs(const std::string& output) const = 0;
  /// Changes the columns that are there: what cannot be made of them is left out. Their fields suit fields().
  virtual void apply(Table& table) const = 0;
};

/// A plug-in: one file in data/preprocess/kinds, named as the preprocessor is, with underscores.
struct PreprocessorKind {
  std::string_view name;  ///< Ray's
  std::string_view help;
  std::string_view parameters;  ///< in words: "columns, output_columns"
  std::unique_ptr<Preprocessing> (*make)(Parameters& parameters);
};

PluginTable<PreprocessorKind> preprocessor_table();

/// The statistic as what it was made as.
template <class T>
const T& as(const Wish& wish) {
  return static_cast<const T&>(*wish.statistic);
}

/// "mean(a)": a key of the stats.
std::string stat_key(std::string_view what, const std::string& column);
/// The number of that key, NaN for null; UsageError if it is none, or not there.
double stat_number(const nlohmann::json& stats, const std::string& key);
/// As JSON: NaN is null.
nlohmann::json json_number(double value);
/// The column of that name in a table, or nullptr.
Table::Column* find_column(Table& table, std::string_view name);
/// Puts the column into the table, in place of one of that name, else as the last one.
void put_column(Table& table, Table::Column column);
void put_field(Fields& fields, Dataset::Field field);

}  // namespace trainrt::data
