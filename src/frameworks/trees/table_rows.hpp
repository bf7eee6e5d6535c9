#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/table_layout.hpp"

namespace trainrt::frameworks::trees {

/// Consecutive rows of a table, valid until the next call of TableRows::next().
struct RowBlock {
  std::size_t rows = 0;
  /// The values of the block, of type TableLayout::dtype. Dense: rows x features, row-major. Sparse: the values of row 0,
  /// then those of row 1, and so on.
  const void* values = nullptr;
  std::span<const std::int64_t>
      row_starts;  ///< sparse: index of the first value of each row, followed by the number of values
  std::span<const std::int32_t> columns;  ///< sparse: the column of each value, ascending within a row
  std::span<const float> label;           ///< one value per row, like the bounds and `weight`; empty if not read
  std::span<const float> lower_bound, upper_bound;
  std::span<const float> weight;
  std::span<const std::int64_t> group;
  std::span<const double>
      margin;  ///< initial scores: rows x TableLayout::margins, row-major; predictions read base_margin only
};

/// Reads the consecutive rows of a dataset that this rank uses, in blocks of a few MiB, any number of times. Blocks are
/// prefetched. The rows of a group belong to the same rank. A text that is not a category is a missing value; at the end of
/// the first pass, the number of these texts is logged for each column. next() throws UsageError for an invalid value: a
/// missing or infinite label, a negative or infinite weight, an infinite initial score, a lower bound above the upper
/// bound, an invalid number of a category, or a column number outside the matrix. The message names the dataset, the field
/// and the sample.
class TableRows {
 public:
  /// `ctx` must live as long as this object. `name`: name of the dataset, for messages. `with_targets`: true for training,
  /// false for predictions. Collective if the layout has a group, since the ranks then agree on their first rows.
  TableRows(Context& ctx, const Dataset& data, std::string name, const TableLayout& layout, bool with_targets = true);

  const std::string& name() const { return name_; }
  std::uint64_t first() const { return first_; }  ///< index of this rank's first row in the dataset
  std::uint64_t size() const { return size_; }    ///< number of this rank's rows
  const TableLayout& layout() const { return layout_; }

  void rewind();           ///< makes next() begin with the first block again
  const RowBlock* next();  ///< returns the next block; nullptr at the end
  /// Returns the batch of the block that next() returned last. Must not be called after the end.
  const Batch& batch() const { return *at_; }

  /// Returns the number of rows of each group of this rank, in the order of the rows, for ranking. Reads the field `group`
  /// once.
  std::vector<std::int32_t> group_sizes();

 private:
  void fill(const Batch& batch);
  void fill_dense(const Batch& batch);
  void fill_sparse(const Batch& batch);
  void add_sparse_row(const TensorView& columns, const TensorView& values, std::uint64_t sample);
  void fill_labels(const Batch& batch);
  void fill_weights(const Batch& batch);
  void fill_margins(const Batch& batch);
  void fill_bounds(const Batch& batch);
  template <class T>
  void fill_features(const Batch& batch, std::vector<T>& into);
  template <class T>
  void fill_texts(const Batch& batch, std::size_t column, std::vector<T>& into);
  template <class T>
  void require_categories(const Batch& batch, std::size_t column, const std::vector<T>& values) const;
  void log_unseen();

  /// The texts in a column that are not categories: their number and the first text.
  struct Unseen {
    std::uint64_t count = 0;
    std::string first;
    std::uint64_t sample = 0;
  };

  const Context& ctx_;
  const std::string name_;
  const TableLayout layout_;
  Dataset data_;
  std::uint64_t first_ = 0, size_ = 0;
  bool with_targets_ = true;
  std::size_t block_rows_ = 1;
  std::optional<Batches> batches_;
  Batches::iterator at_;
  bool is_begun_ = false;
  RowBlock block_;
  std::vector<float> floats_, label_, weight_, lower_bound_, upper_bound_;
  std::vector<double> doubles_, margin_;
  std::vector<std::int64_t> group_, row_starts_;
  std::vector<std::int32_t> columns_;
  std::map<std::size_t, Unseen> unseen_;  ///< by column; only counted in the first pass
  bool is_first_pass_ = true;
};

}  // namespace trainrt::frameworks::trees
