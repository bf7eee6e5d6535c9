#pragma once
#include <string>
#include <vector>

#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// Base class of preprocessors that transform each column independently of the other columns. By default, each output
/// replaces its input column.
class Columnwise : public Preprocessing {
 public:
  /// The parameters of a preprocessor that has no parameters besides its columns, such as StandardScaler.
  static constexpr ParameterSpec parameters[] = {columns_parameter, output_columns_parameter};

  /// `columns` and `outputs` name the parameters that contain the names of the input columns and of the output columns.
  explicit Columnwise(const Parameters& given, std::string_view columns = "columns",
                      std::string_view outputs = "output_columns")
      : columns_(given.names(columns)), outputs_(given.names(outputs)) {}

  bool needs_fit() const final { return statistic() != nullptr; }
  std::vector<StatisticRequest> requests(const Fields& fields) const final;
  nlohmann::json stats_of(std::span<const StatisticRequest> computed) const final;
  Fields fields(const Fields& before) const final;
  std::vector<std::string> needs(const std::string& output, const Fields& before) const final;
  void apply(Table& table) const final;

 protected:
  const std::vector<std::string>& columns() const { return columns_; }

  /// Throws UsageError, which names the column, if the type of the column is unsuitable. By default, each sample of a
  /// column must be one number.
  virtual void require(const Dataset::Field& field) const;
  /// Returns a new statistic, without values, of the kind that a fit computes for each column. Returns nullptr if no fit is
  /// needed.
  virtual std::unique_ptr<Statistic> statistic() const { return nullptr; }
  /// Adds the results of the fit for the column with the index `at` in columns() to a JSON object.
  virtual void add_stats(std::size_t, const Statistic&, nlohmann::json&) const {}

  /// output() returns a field with the type and shape of the output of the column with the index `at`. The name of this
  /// field is not used. By default, the output is one number per sample: f32 for an f32 column, otherwise f64.
  ///
  /// convert() computes the values of this output and stores them in `to`, which must be empty. Precondition of both
  /// functions: require() has accepted the field of the input column.
  virtual Dataset::Field output(std::size_t at, const Dataset::Field& from) const;
  virtual void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const = 0;

 private:
  Dataset::Field checked_output(std::size_t at, const Dataset::Field& from) const;
  std::vector<std::string> columns_, outputs_;
};

/// Base class of scalers: computes (x - offset) / divisor for each number x, in f64. The result is f32 for an f32 column,
/// otherwise f64. A divisor of 0 is replaced by 1, as in Ray Data. A column with only NaN stays NaN.
class Scaling : public Columnwise {
 public:
  using Columnwise::Columnwise;
  void set_stats(const nlohmann::json& stats) final;

 protected:
  struct Scale {
    double offset = 0;
    double divisor = 1;
  };
  virtual Scale scale(const ColumnStats& stats) const = 0;
  /// Returns the divisor, or 1 if it is less than 1e-8, so that a column that is nearly constant is not scaled up.
  static double one_if_negligible(double divisor) { return divisor < 1e-8 ? 1 : divisor; }

 private:
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;
  std::vector<Scale> scales_;
};

/// Base class of preprocessors that compute each output from all of their input columns.
class Combining : public Preprocessing {
 public:
  Combining(std::vector<std::string> columns, std::vector<std::string> outputs)
      : columns_(std::move(columns)), outputs_(std::move(outputs)) {}
  std::vector<std::string> needs(const std::string& output, const Fields& before) const final;
  void apply(Table& table) const final;

 protected:
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  /// Returns the names of the input columns for data that have the given fields. By default, returns columns().
  virtual std::vector<std::string> inputs(const Fields&) const { return columns_; }
  /// own_fields() returns the fields of the input columns, in the order of inputs(). It throws UsageError if a column is
  /// missing. own_columns() returns the input columns in the same order; all of them must exist.
  Fields own_fields(const Fields& before) const;
  std::vector<const Table::Column*> own_columns(Table& table) const;

 private:
  /// Transforms `table`. Precondition: the table has all input columns, at least one.
  virtual void change(Table& table) const = 0;
  std::vector<std::string> columns_, outputs_;
};

}  // namespace trainrt::data
