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

/// Computes a property of all values of one column, such as their mean. The result is exact, so it does not depend on how
/// the samples are divided among threads and ranks. Some statistics need several passes over the data.
class Statistic {
 public:
  virtual ~Statistic() = default;
  /// Returns a statistic of the same kind for another thread, without the values that were added in the current pass.
  virtual std::unique_ptr<Statistic> fresh() const = 0;
  /// Adds all values of a column. Throws UsageError if a value is unsuitable; the caller adds the name of the column.
  virtual void add(const Table::Column& column) = 0;
  /// write() appends this statistic to `into`. merge() adds a statistic that another thread or rank has written.
  virtual void write(PackedWriter& into) const = 0;
  virtual void merge(PackedReader& from) = 0;
  /// Ends a pass over the data. Returns whether another pass is needed. Precondition: the statistics of all ranks have been
  /// merged.
  virtual bool begin_next_pass() { return false; }
};

/// A statistic that a preprocessor needs, and the name of the column from which the statistic is computed.
struct StatisticRequest {
  std::string column;
  std::unique_ptr<Statistic> statistic;
};

/// The implementation of a preprocessor. Several threads may call the const functions at the same time. The messages of
/// UsageErrors do not name the preprocessor; the callers add its name.
class Preprocessing {
 public:
  virtual ~Preprocessing() = default;

  /// Returns whether the preprocessor must be fitted before use.
  virtual bool needs_fit() const { return false; }
  /// Returns the statistics that a fit to data with the given fields must compute. Throws UsageError if a column is
  /// missing or unsuitable.
  virtual std::vector<StatisticRequest> requests(const Fields&) const { return {}; }
  /// Returns the results of a fit as a JSON object with Ray Data's keys, such as "mean(a)". The argument has the statistics
  /// that requests() returned, after all values were added.
  virtual nlohmann::json stats_of(std::span<const StatisticRequest>) const { return nullptr; }
  /// Sets the results of a fit, in the form that stats_of() returns. Throws UsageError if they are invalid, because they
  /// may be from a file.
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
  std::string_view help;                      ///< one sentence in the imperative, without a period
  std::string_view stats = {};                ///< keys of the results of a fit: "mean(COLUMN)"; "": it is not fitted
  std::span<const ParameterSpec> parameters;  ///< parameters in the order of the Python class's arguments
  std::unique_ptr<Preprocessing> (*make)(const Parameters& parameters);
};

PluginTable<PreprocessorKind> preprocessor_table();

template <class T>
std::unique_ptr<Preprocessing> make_preprocessing(const Parameters& parameters) {
  return std::make_unique<T>(parameters);
}

/// Access to the results of a fit for one column. The results may be from a file, so the functions check them.
struct ColumnStats {
  const nlohmann::json& all;  ///< stats of all columns
  std::string column;

  /// The functions return the result `name` for this column: for "mean" and the column "a", the value of the key "mean(a)".
  /// They throw UsageError if the key is missing or has a different type. number() returns NaN for null.
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
/// put_column() appends a column to the table, and put_field() appends a field to the list. If a column or field with the
/// same name exists, they replace it instead.
void put_column(Table& table, Table::Column column);
void put_field(Fields& fields, Dataset::Field field);

}  // namespace trainrt::data
