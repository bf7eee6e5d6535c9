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

/// A table of samples in memory, to which a Preprocessor can be applied without a dataset. The table owns its values.
struct TRAINRT_API Table {
  struct Column {
    Dataset::Field field;
    std::vector<std::byte> values;  ///< the bytes of all samples' values, in the order of the samples
    /// for a field that varies in length: offset in `values` at which each sample's bytes end
    std::vector<std::uint64_t> ends;
  };
  std::uint64_t samples = 0;  ///< number of samples, equal in all columns
  std::vector<Column> columns;

  /// Appends a column `name` of f64, i64 or strings to the table. Throws UsageError if the number of `values` differs from
  /// the number of samples in the other columns.
  void add(std::string name, std::span<const double> values);
  void add(std::string name, std::span<const std::int64_t> values);
  void add(std::string name, std::span<const std::string> values);
  /// Returns the column with the name `name`. Throws UsageError, with the valid names, if the table has no such column.
  const Column& column(std::string_view name) const;
};

/// A transformation of columns that can be fitted to a dataset, such as StandardScaler. Preprocessors have the names and
/// parameters of Ray Data's preprocessors.
///
/// Copies of a Preprocessor are cheap. Several threads may call const functions at the same time.
///
/// The JSON form of a preprocessor is {"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["a"]},
/// "stats": {"mean(a)": 2.5, "std(a)": 0.5}}; without "stats" the preprocessor is not fitted. The Python package
/// trainrt.data.preprocessors uses the same JSON and computes the same values.
class TRAINRT_API Preprocessor {
 public:
  /// Creates an unfitted preprocessor from the text of a config value: "StandardScaler(columns: a, b)". Several
  /// preprocessors, separated by commas, form a Chain. For an invalid text, throws a UsageError that names the problem and
  /// the valid values.
  explicit Preprocessor(std::string_view text);
  /// Creates a preprocessor from its JSON form (see to_json()). Throws UsageError for invalid JSON. `json` may come from an
  /// untrusted source.
  static Preprocessor from_json(std::string_view json);
  std::string to_json() const;    ///< returns the preprocessor's JSON form
  std::string_view name() const;  ///< returns "StandardScaler"; "Chain" for several
  bool is_fitted() const;         ///< returns true if the preprocessor is fitted, or needs no fitting

  /// Fits the preprocessor to all samples of `dataset`, with their values before map() and before random augmentation.
  ///
  /// Each rank reads its part of the samples (`RobustScaler` up to four times). All ranks get the same statistics, bit for
  /// bit, on any number of ranks: sums are exact and rounded once, and quantiles are exact. An exception on one rank is
  /// thrown on all ranks. Collective.
  void fit(const Dataset& dataset);
  /// Returns the fields (names, types, shapes) of samples after the transformation, if `before` are their fields before the
  /// transformation. Throws UsageError if a column is missing or has an unsuitable type, and if the preprocessor is not
  /// fitted. Not collective.
  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const;
  /// Transforms the columns of `table` in place. Throws UsageError as fields() does. Not collective.
  void transform(Table& table) const;

 private:
  friend class Dataset;
  explicit Preprocessor(std::shared_ptr<const PreprocessorImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const PreprocessorImpl> impl_;
};

}  // namespace trainrt
