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

/// A table of samples in memory, to which a Preprocessor can be applied outside of a dataset. It owns its values.
struct TRAINRT_API Table {
  struct Column {
    Dataset::Field field;
    std::vector<std::byte> values;    ///< the samples' values, one sample after another
    std::vector<std::uint64_t> ends;  ///< end of each sample's bytes in `values`, for a field that varies in length
  };
  std::uint64_t samples = 0;  ///< number of samples in each column
  std::vector<Column> columns;

  /// Appends a column of f64, i64 or strings. Throws UsageError if its number of samples differs from the other columns'.
  void add(std::string name, std::span<const double> values);
  void add(std::string name, std::span<const std::int64_t> values);
  void add(std::string name, std::span<const std::string> values);
  /// Returns the column `name`. Throws UsageError, with the valid names, if it does not exist.
  const Column& column(std::string_view name) const;
};

/// A transformation of columns that can be fitted to a dataset, such as StandardScaler. Names and parameters are those of
/// Ray Data's preprocessors.
///
/// Copies are cheap. Several threads may call const functions at the same time.
///
/// Its JSON form is {"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["a"]}, "stats": {"mean(a)":
/// 2.5, "std(a)": 0.5}}; without "stats" it is not fitted. The Python package trainrt.data.preprocessors uses the same JSON
/// and computes the same values.
class TRAINRT_API Preprocessor {
 public:
  /// Creates an unfitted preprocessor from its form in a config: "StandardScaler(columns: a, b)". Several, separated by
  /// commas, form a Chain. Throws UsageError that names the error and the valid values.
  explicit Preprocessor(std::string_view text);
  /// Creates a preprocessor from its JSON form. Throws UsageError for invalid JSON; untrusted text is safe.
  static Preprocessor from_json(std::string_view json);
  std::string to_json() const;    ///< returns its JSON form
  std::string_view name() const;  ///< returns "StandardScaler"; "Chain" for several
  bool is_fitted() const;         ///< returns true also if it needs no fitting

  /// Fits the preprocessor to all samples of `dataset`, as they are before map() and before random changes.
  ///
  /// Each rank reads its part of the samples (`RobustScaler` up to four times). All ranks get the same statistics, bit for
  /// bit, on any number of ranks: sums are exact and rounded once, and quantiles are exact. An exception on one rank is
  /// thrown on all. Collective.
  void fit(const Dataset& dataset);
  /// Returns the fields after the transformation of fields `before`. Throws UsageError if a column is missing or has an
  /// unsuitable type, and if the preprocessor is not fitted. Not collective.
  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const;
  /// Transforms `table` in place. Throws as fields() does. Not collective.
  void transform(Table& table) const;

 private:
  friend class Dataset;
  explicit Preprocessor(std::shared_ptr<const PreprocessorImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const PreprocessorImpl> impl_;
};

}  // namespace trainrt
