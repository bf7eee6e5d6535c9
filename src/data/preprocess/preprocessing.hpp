#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/preprocessor.hpp>

#include "core/plugin.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/preprocess/parameters.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

constexpr const char* has_infinity = "it contains an infinite value";  ///< error message of Statistic::add()

/// A property of all values of one column, such as their mean. Results are exact, so they do not depend on how the
/// samples are divided among threads and ranks. Some statistics need several passes over the data.
class Statistic {
 public:
  virtual ~Statistic() = default;
  /// Returns a statistic of the same kind for another thread. It contains no values of the current pass.
  virtual std::unique_ptr<Statistic> fresh() const = 0;
  /// Adds all values of a column. Throws UsageError without the column's name if a value is unsuitable.
  virtual void add(const Table::Column& column) = 0;
  /// write() appends this statistic to `into`. merge() adds a statistic that another thread or rank has written.
  virtual void write(PackedWriter& into) const = 0;
  virtual void merge(PackedReader& from) = 0;
  /// Ends a pass over the data. Precondition: the parts of all ranks have been merged. Returns whether another pass is
  /// needed.
  virtual bool begin_next_pass() { return false; }
};

/// A statistic that a preprocessor needs, and the name of its column.
struct StatisticRequest {
  std::string column;
  std::unique_ptr<Statistic> statistic;
};

/// The implementation of a preprocessor. Const functions may be called by several threads at the same time. UsageErrors do
/// not name the preprocessor; callers add its name.
class Preprocessing {
 public:
  virtual ~Preprocessing() = default;

  /// Returns whether the preprocessor must be fitted before use.
  virtual bool needs_fit() const { return false; }
  /// Returns the statistics that a fit to data with the given fields must compute. Throws UsageError if a column is
  /// missing or unsuitable.
  virtual std::vector<StatisticRequest> requests(const Fields&) const { return {}; }
  /// Returns the results of a fit as a JSON object with Ray's keys, such as "mean(a)". `computed` are the statistics that
  /// requests() returned, after the fit.
  virtual nlohmann::json stats_of(std::span<const StatisticRequest>) const { return nullptr; }
  /// Sets the results of a fit, in the form that stats_of() returns. They may come from a file. Throws UsageError if they
  /// are invalid.
  virtual void set_stats(const nlohmann::json&) {}

  /// Returns the fields after the transformation. Throws UsageError if a column is missing or unsuitable.
  virtual Fields fields(const Fields& before) const = 0;
  /// Returns the names of the columns of `before` from which `output`, one of fields(before), is computed.
  virtual std::vector<std::string> needs(const std::string& output, const Fields& before) const = 0;
  /// Transforms the columns of `table` in place. An output is left out if one of its input columns is missing.
  virtual void apply(Table& table) const = 0;
};

/// The declaration of a preprocessor. Each preprocessor is a plug-in: one file in data/preprocess/kinds. The Python
/// classes are generated from these declarations.
struct PreprocessorKind {
  std::string_view name;                      ///< name of Ray Data's class
  std::string_view help;                      ///< one sentence without a full stop, in the imperative
  std::string_view stats = {};                ///< keys of the stats: "mean(COLUMN), std(COLUMN)"; "": it is not fitted
  std::span<const ParameterSpec> parameters;  ///< parameters in the order of the Python class's arguments
  std::unique_ptr<Preprocessing> (*make)(const Parameters& parameters);
};

PluginTable<PreprocessorKind> preprocessor_table();

template <class T>
std::unique_ptr<Preprocessing> make_preprocessing(const Parameters& parameters) {
  return std::make_unique<T>(parameters);
}

/// The results of a fit for one column. They may come from a file.
struct ColumnStats {
  const nlohmann::json& all;  ///< stats of all columns
  std::string column;

  /// Return the value of the stat `name` of this column: for "mean" and the column "a", the value of the key "mean(a)".
  /// Throw UsageError if the key is missing or has a different type. number() returns NaN for null.
  const nlohmann::json& value(std::string_view name) const;
  const nlohmann::json& list(std::string_view name) const;
  double number(std::string_view name) const;
};

/// Returns the key of a result of a fit, such as "mean(a)". If `name` is empty, returns the name of the column.
std::string stat_key(std::string_view name, const std::string& column);
/// Converts a number to JSON: NaN becomes null.
nlohmann::json json_number(double value);

Fields fields_of(const Table& table);
/// Returns the column named `name`, or nullptr if the table has no such column.
Table::Column* find_column(Table& table, std::string_view name);
/// put_column() adds a column at the end of the table, put_field() adds a field at the end of the list. A column or field
/// with the same name is replaced.
void put_column(Table& table, Table::Column column);
void put_field(Fields& fields, Dataset::Field field);

}  // namespace trainrt::data
