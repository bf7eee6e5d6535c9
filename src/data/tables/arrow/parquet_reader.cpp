#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/column_values.hpp"
#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

/// Maximum numbers of rows that are decoded at a time: few, so that the values of a few columns fit into the processor's
/// cache.
constexpr std::int64_t rows_at_a_time = 32'768;
constexpr std::int64_t direct_rows_at_a_time = 8192;

void add_leaves(const parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
  if (field.is_leaf()) leaves.push_back(field.column_index);
  for (const auto& child : field.children) add_leaves(child, leaves);
}

/// Decodes a column of a row group directly into its target, without an Arrow array. Only one thread may use an object.
class DirectColumn {
 public:
  /// Returns whether this class can decode the column: it has one number per row, in a type that Parquet itself has.
  static bool suits(const parquet::ColumnDescriptor& column, const arrow::DataType& type);
  /// Opens a column for which suits() returned true. `column` and `target` must outlive the object.
  static std::unique_ptr<DirectColumn> of(std::shared_ptr<parquet::ColumnReader> reader, const TableColumn& column,
                                          const TableTarget& target);

  virtual ~DirectColumn() = default;
  /// Decodes the next `rows` rows, of which `first` is the first. Throws Error, which names column, row and value, for an
  /// invalid value. Also throws Error if the file has fewer rows.
  virtual void read(std::int64_t rows, FirstRow first) = 0;
};

template <class Physical>
class DirectNumbers final : public DirectColumn {
 public:
  using Value = typename Physical::c_type;
  DirectNumbers(std::shared_ptr<parquet::ColumnReader> reader, const TableColumn& column, const TableTarget& target)
      : reader_(std::static_pointer_cast<parquet::TypedColumnReader<Physical>>(std::move(reader))),
        column_(column),
        target_(target),
        is_nullable_(reader_->descr()->max_definition_level() > 0),
        in_place_(target.dtype == dtype_of<Value>::value && target.stride == sizeof(Value)) {}

  void read(std::int64_t rows, FirstRow first) override {
    if (is_nullable_) levels_.resize(std::max(levels_.size(), static_cast<std::size_t>(rows)));
    if (!in_place_) values_.resize(std::max(values_.size(), static_cast<std::size_t>(rows)));
    while (rows > 0) {
      auto* const out = target_.values + first.in_block * target_.stride;
      auto* const values = in_place_ ? reinterpret_cast<Value*>(out) : values_.data();
      std::int64_t present = 0;
      const auto count = reader_->ReadBatch(rows, is_nullable_ ? levels_.data() : nullptr, nullptr, values, &present);
      if (count <= 0 || count > rows || present > count)
        throw Error("the file is damaged: a row group has fewer rows than the footer declares");
      Run run{.count = count,
              .out = out,
              .stride = target_.stride,
              .first_row = first.in_file,
              .must_be_exact = target_.must_be_exact};
      if (present < count) run.validity = spread(values, count, present);
      if (present < count || !in_place_) in_column(column_, [&] { put_as(values, target_.dtype, run); });
      rows -= count;
      first.in_block += static_cast<std::uint64_t>(count);
      first.in_file += static_cast<std::uint64_t>(count);
    }
  }

 private:
  /// Moves each of the first `present` values of `values` to the position of its row: Parquet stores no value for a row
  /// whose value is missing. Returns which of the `count` rows have a value.
  Validity spread(Value* values, std::int64_t count, std::int64_t present) {
    const auto level_of_value = reader_->descr()->max_definition_level();
    bits_.assign(static_cast<std::size_t>(count + 7) / 8, 0);
    for (auto i = count; i-- > 0 && present > 0;) {
      if (levels_[static_cast<std::size_t>(i)] != level_of_value) continue;
      values[i] = values[--present];
      arrow::bit_util::SetBit(bits_.data(), i);
    }
    return {bits_.data(), 0};
  }

  std::shared_ptr<parquet::TypedColumnReader<Physical>> reader_;
  const TableColumn& column_;
  const TableTarget& target_;
  bool is_nullable_, in_place_;
  std::vector<std::int16_t> levels_;
  std::vector<Value> values_;
  std::vector<std::uint8_t> bits_;
};

bool DirectColumn::suits(const parquet::ColumnDescriptor& column, const arrow::DataType& type) {
  if (column.max_repetition_level() > 0 || column.max_definition_level() > 1) return false;
  switch (type.id()) {
    case arrow::Type::INT32:
      return column.physical_type() == parquet::Type::INT32;
    case arrow::Type::INT64:
      return column.physical_type() == parquet::Type::INT64;
    case arrow::Type::FLOAT:
      return column.physical_type() == parquet::Type::FLOAT;
    case arrow::Type::DOUBLE:
      return column.physical_type() == parquet::Type::DOUBLE;
    default:
      return false;
  }
}

std::unique_ptr<DirectColumn> DirectColumn::of(std::shared_ptr<parquet::ColumnReader> reader, const TableColumn& column,
                                               const TableTarget& target) {
  switch (reader->type()) {
    case parquet::Type::INT32:
      return std::make_unique<DirectNumbers<parquet::Int32Type>>(std::move(reader), column, target);
    case parquet::Type::INT64:
      return std::make_unique<DirectNumbers<parquet::Int64Type>>(std::move(reader), column, target);
    case parquet::Type::FLOAT:
      return std::make_unique<DirectNumbers<parquet::FloatType>>(std::move(reader), column, target);
    case parquet::Type::DOUBLE:
      return std::make_unique<DirectNumbers<parquet::DoubleType>>(std::move(reader), column, target);
    default:
      throw Error("the file is damaged: the type of a column differs from the schema");
  }
}

/// An open Parquet file, for one thread. All readers of the file share the decoded footer.
struct Reader {
  std::shared_ptr<ArrowInput> input;
  std::unique_ptr<parquet::arrow::FileReader> file;
};

class ParquetReader final : public ReaderBase {
 public:
  ParquetReader(std::shared_ptr<const TableInput> input, std::uint64_t max_memory)
      : ReaderBase(std::move(input), max_memory) {
    auto reader = open();
    footer_ = reader->file->parquet_reader()->metadata();
    std::shared_ptr<arrow::Schema> schema;
    guarded(reader->input, [&] { require_ok(reader->file->GetSchema(&schema)); });
    for (const auto& field : schema->fields()) columns_.push_back(describe_column(*field));
    for (const auto& field : reader->file->manifest().schema_fields) add_leaves(field, leaves_.emplace_back());
    if (leaves_.size() != columns_.size()) throw Error("the file is damaged: its two schemas have different columns");
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      is_direct_.push_back(leaves_[i].size() == 1 && DirectColumn::suits(*footer_->schema()->Column(leaves_[i].front()),
                                                                         *schema->field(static_cast<int>(i))->type()));
    for (int group = 0; group < footer_->num_row_groups(); ++group) add_block(footer_->RowGroup(group)->num_rows());
    give_back(std::move(reader));
  }

  bool has_missing_values(std::size_t column) const override {
    if (!columns_[column].is_nullable) return false;
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      if (has_missing_values(block, column)) return true;
    return false;
  }

  std::uint64_t varying_bytes(std::size_t block, std::size_t column) const override {
    const auto group = footer_->RowGroup(static_cast<int>(block));
    std::int64_t bytes = 0;
    for (const auto leaf : leaves_[column])
      bytes += std::max<std::int64_t>(0, group->ColumnChunk(leaf)->total_uncompressed_size());
    return static_cast<std::uint64_t>(bytes);
  }

  void read(std::size_t block, std::span<const TableTarget> targets) const override {
    const auto before = rows_before(block);
    std::vector<std::size_t> columns;
    std::vector<const TableTarget*> direct, others;
    for (const auto& target : targets) {
      (is_direct_[target.column] ? direct : others).push_back(&target);
      if (!is_direct_[target.column]) columns.push_back(target.column);
    }
    if (!direct.empty()) read_direct(block, direct, before);
    if (others.empty()) return;
    walk(block, columns, [&](const arrow::RecordBatch& batch, std::uint64_t first_row) {
      for (std::size_t i = 0; i < others.size(); ++i)
        put_values(*batch.column(static_cast<int>(i)), columns_[others[i]->column], *others[i],
                   {first_row, before + first_row});
      return true;
    });
  }

 private:
  std::unique_ptr<Reader> open() const {
    auto reader = std::make_unique<Reader>();
    reader->input = std::make_shared<ArrowInput>(input_, &pool_);
    guarded(reader->input, [&] {
      parquet::ReaderProperties properties(&pool_);
      properties.set_page_checksum_verification(true);  // verifies the pages that have a checksum
      auto file = parquet::ParquetFileReader::Open(reader->input, properties, footer_);
      parquet::ArrowReaderProperties as_arrow(false);
      as_arrow.set_batch_size(rows_at_a_time);
      as_arrow.set_pre_buffer(false);
      reader->file = value_of(parquet::arrow::FileReader::Make(&pool_, std::move(file), as_arrow));
    });
    return reader;
  }

  std::unique_ptr<Reader> take() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto reader = std::move(idle_.back());
        idle_.pop_back();
        return reader;
      }
    }
    return open();
  }

  void give_back(std::unique_ptr<Reader> reader) const {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(reader));
  }

  bool has_missing_values(std::size_t block, std::size_t column) const {
    const auto group = footer_->RowGroup(static_cast<int>(block));
    const auto statistics = group->ColumnChunk(leaves_[column].front())->statistics();
    if (statistics && statistics->HasNullCount()) return statistics->null_count() != 0;
    bool lacks = false;
    walk(block, {column}, [&](const arrow::RecordBatch& batch, std::uint64_t) {
      lacks = batch.column(0)->null_count() != 0;
      return !lacks;
    });
    return lacks;
  }

  /// Decodes the rows in small batches. Decodes all columns of a batch, then all columns of the next batch. This order
  /// is faster than one column after the other, because the columns of a vector share cache lines.
  void read_direct(std::size_t block, const std::vector<const TableTarget*>& targets, std::uint64_t rows_before) const {
    auto reader = take();
    guarded(reader->input, [&] {
      const auto group = reader->file->parquet_reader()->RowGroup(static_cast<int>(block));
      std::vector<std::unique_ptr<DirectColumn>> columns;
      for (const auto* const target : targets)
        columns.push_back(
            DirectColumn::of(group->Column(leaves_[target->column].front()), columns_[target->column], *target));
      const auto rows = static_cast<std::int64_t>(blocks_[block]);
      for (std::int64_t row = 0; row < rows; row += direct_rows_at_a_time)
        for (const auto& column : columns)
          column->read(std::min(direct_rows_at_a_time, rows - row),
                       {static_cast<std::uint64_t>(row), rows_before + static_cast<std::uint64_t>(row)});
    });
    give_back(std::move(reader));
  }

  /// Passes the rows of a block's columns to `take_rows`, in batches. Ends when `take_rows` returns false.
  template <class Take>
  void walk(std::size_t block, const std::vector<std::size_t>& columns, const Take& take_rows) const {
    auto reader = take();
    guarded(reader->input, [&] {
      std::vector<int> leaves;
      for (const auto column : columns) leaves.insert(leaves.end(), leaves_[column].begin(), leaves_[column].end());
      const auto batches = value_of(reader->file->GetRecordBatchReader({static_cast<int>(block)}, leaves));
      std::uint64_t rows = 0;
      for (;;) {
        const auto batch = value_of(batches->Next());
        if (!batch) break;
        const auto count = static_cast<std::uint64_t>(batch->num_rows());
        if (count > blocks_[block] - rows)
          throw Error("the file is damaged: a row group has more rows than the footer declares");
        if (static_cast<std::size_t>(batch->num_columns()) != columns.size())
          throw Error("the file is damaged: a row group has a different number of columns than the schema");
        if (!take_rows(*batch, rows)) return;
        rows += count;
      }
      if (rows != blocks_[block]) throw Error("the file is damaged: a row group has fewer rows than the footer declares");
    });
    give_back(std::move(reader));
  }

  std::shared_ptr<parquet::FileMetaData> footer_;
  std::vector<std::vector<int>> leaves_;  // for each column, the indices of its Parquet columns
  std::vector<bool> is_direct_;           // whether each column is decoded by DirectColumn
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace

std::unique_ptr<const TableReader> open_parquet(std::shared_ptr<const TableInput> input, std::uint64_t max_memory) {
  return guarded(nullptr, [&] { return std::make_unique<const ParquetReader>(std::move(input), max_memory); });
}

}  // namespace trainrt::data::arrow_module
