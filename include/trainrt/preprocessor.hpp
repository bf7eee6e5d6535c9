#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

/// Columns of some samples, in memory of their own: what a Preprocessor changes outside of a dataset.
struct TRAINRT_API Table {
  struct Column {
    Dataset::Field field;
    std::vector<std::byte> values;    ///< one sample after another
    std::vector<std::uint64_t> ends;  ///< of a field that varies in length: where each sample's bytes end in `values`
  };
  std::uint64_t samples = 0;
  std::vector<Column> columns;

  /// Appends a column of f64, i64 or texts; UsageError if it has not as many samples as the others.
  void add(std::string name, std::span<const double> values);
  void add(std::string name, std::span<const std::int64_t> values);
  void add(std::string name, std::span<const std::string> values);
  /// UsageError that lists the columns if there is none of that name.
  const Column& column(std::string_view name) const;
};

/// A change of columns, with what it has learned of the data it was fitted to (Ray Data's preprocessors, by their names and
/// parameters). Cheap to copy; const functions may be called by any threads at once.
///
/// As JSON: {"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["a"]}, "stats": {"mean(a)": 2.5,
/// "std(a)": 0.5}}; without "stats" it is not fitted. The Python package trainrt.data.preprocessors reads and writes the
/// same, and computes the same values.
class TRAINRT_API Preprocessor {
 public:
  /// One that is not fitted, as a config writes it: "StandardScaler(columns: a, b)"; several between commas are a Chain.
  /// UsageError that names what is wrong, and what is valid.
  explicit Preprocessor(std::string_view text);
  /// UsageError for what is no such JSON. Any text may be given: it never does more than throw.
  static Preprocessor from_json(std::string_view json);
  std::string to_json() const;
  std::string_view name() const;
  bool is_fitted() const;  ///< or has nothing to learn

  /// Learns from all samples of the dataset, as they are before map() and random changes. Collective: each rank reads its
  /// part of them (`RobustScaler` up to four times), and all get the same, bit for bit, on any number of ranks: sums are
  /// exact and rounded once, quantiles are exact. What throws on one rank throws on all.
  void fit(const Dataset& dataset);
  /// The fields that it makes of these. UsageError if a column is missing or of a type that it cannot take, and if it is
  /// not fitted.
  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const;
  void transform(Table& table) const;

 private:
  friend class Dataset;
  explicit Preprocessor(std::shared_ptr<const PreprocessorImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const PreprocessorImpl> impl_;
};

}  // namespace trainrt
