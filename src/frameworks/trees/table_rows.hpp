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

/// Some rows of a table, valid until the next ones are asked for.
struct RowBlock {
  std::size_t rows = 0;
  /// Dense: rows x features, row-major, of layout.dtype. Sparse: the values, and where each row's begin.
  const void* values = nullptr;
  std::span<const std::int64_t> row_starts;  ///< sparse: rows + 1
  std::span<const std::int32_t> columns;     ///< sparse: the column of each value, ascending within a row
  std::span<const float> label;              ///< a value a row; empty if it is not read
  std::span<const float> lower_bound, upper_bound;
  std::span<const float> weight;
  std::span<const std::int64_t> group;
  std::span<const double> margin;  ///< rows x layout.margins, row-major; also in predictions if it is base_margin
};

/// The contiguous part of a dataset that this rank has, read in blocks of a few MiB, any number of times, ahead of who uses
/// them. Whole groups: a part ends where a group does. UsageError, with the dataset, field and sample, for a label that is
/// missing or not finite, a weight that is negative or not finite, a margin that is not finite, bounds of no range, a
/// number that is not a category, and a column that the matrix does not have. A text that is not among the categories is
/// missing: at the end of the first pass one line per column has their number.
class TableRows {
 public:
  /// `ctx` must live as long as this. `name`: of the dataset, for messages. Collective if the layout has a group: the ranks
  /// agree on where their parts begin.
  TableRows(Context& ctx, const Dataset& data, std::string name, const TableLayout& layout, bool with_targets = true);

  const std::string& name() const { return name_; }
  std::uint64_t first() const { return first_; }  ///< its first row's place in the whole dataset
  std::uint64_t size() const { return size_; }    ///< of this part
  const TableLayout& layout() const { return layout_; }

  void rewind();           ///< next() begins again
  const RowBlock* next();  ///< nullptr at the end
  /// That the rows of the last next() come from. Not after the end.
  const Batch& batch() const { return *at_; }

  /// The sizes of the groups of this part, in their order: what ranking needs. Reads the field once.
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

  /// Texts of one column that are not among its categories.
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
  std::map<std::size_t, Unseen> unseen_;  ///< of columns in the first pass
  bool is_first_pass_ = true;
};

}  // namespace trainrt::frameworks::trees
