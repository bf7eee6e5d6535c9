#include "data/tables/arrow/direct_column.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <parquet/schema.h>
#include <parquet/types.h>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

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
      if (count <= 0 || count > rows || present > count) throw Error("a row group has fewer rows than the footer declares");
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
  /// Moves each of the `present` values, which are contiguous at first, to the position of its row. Returns which rows
  /// have a value.
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

}  // namespace

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
      throw Error("the type of a column differs from the file's schema");
  }
}

}  // namespace trainrt::data::arrow_module
