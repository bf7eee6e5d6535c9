#pragma once
#include <string>
#include <vector>

#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// One that makes of each of its columns another one: the parameters `columns` and `output_columns`, which are by default
/// the same, so that each takes its column's place.
class Columnwise : public Preprocessing {
 public:
  explicit Columnwise(Parameters& parameters, std::string_view columns = "columns",
                      std::string_view outputs = "output_columns")
      : columns_(parameters.names(columns)), outputs_(parameters.names(outputs, columns_)) {}

  Fields fields(const Fields& before) const final;
  std::vector<std::string> needs(const std::string& output) const final;
  void apply(Table& table) const final;

 protected:
  /// What column `at` of columns() becomes; its name does not count. UsageError if it is of a type that will not do.
  virtual Dataset::Field made(std::size_t at, const Dataset::Field& from) const = 0;
  /// Fills in the values of `to`, which has its field.
  virtual void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const = 0;
  const std::vector<std::string>& columns() const { return columns_; }
  /// A wish for each column; `require` throws for a field that will not do.
  template <class Make>
  std::vector<Wish> wish_each(const Fields& fields, void (*require)(const Dataset::Field&), Make&& make) const {
    std::vector<Wish> wishes;
    for (const auto& column : columns_) {
      require(field_of(fields, column));
      wishes.push_back({column, make(column)});
    }
    return wishes;
  }
  static const Dataset::Field& field_of(const Fields& fields, const std::string& column);

 private:
  std::vector<std::string> columns_, outputs_;
};

/// One that makes (x - offset) / divisor of each number x: f32 of f32, else f64. Computed in f64; a column that has neither
/// (all its values are NaN) becomes NaN. A divisor of 0 counts as 1, as Ray's.
class Scaling : public Columnwise {
 public:
  using Columnwise::Columnwise;
  void set_stats(const nlohmann::json& stats) final;

 protected:
  struct Scale {
    double offset = 0;
    double divisor = 1;
  };
  virtual Scale scale(const nlohmann::json& stats, const std::string& column) const = 0;

 private:
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const final;
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;
  std::vector<Scale> scales_;
};

}  // namespace trainrt::data
