// Each block of rows is encoded in memory as a Parquet file with one row group, whose footer contains the offsets of the
// columns. The footer of the complete file is made from these footers: the offsets of each block are increased by the
// position of the block in the complete file.
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/compression.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/column_values.hpp"
#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

constexpr std::string_view magic = "PAR1";

std::shared_ptr<arrow::DataType> number_type(const Dataset::Field& field) {
  static const std::map<DType, std::shared_ptr<arrow::DataType>> types{
      {DType::f64, arrow::float64()}, {DType::f32, arrow::float32()}, {DType::f16, arrow::float16()},
      {DType::i64, arrow::int64()},   {DType::i32, arrow::int32()},   {DType::i16, arrow::int16()},
      {DType::i8, arrow::int8()},     {DType::u8, arrow::uint8()},    {DType::boolean, arrow::boolean()}};
  const auto type = types.find(field.dtype);
  if (type == types.end())
    throw UsageError(
        fmt::format("Arrow does not support the type of '{}': choose other fields with --columns", field.name));
  return type->second;
}

bool is_text(const Dataset::Field& field) { return field.varies && field.dtype == DType::u8; }

std::shared_ptr<arrow::Field> element_of(const Dataset::Field& field) {
  return arrow::field("element", number_type(field), false);
}

std::shared_ptr<arrow::DataType> type_of(const Dataset::Field& field) {
  if (is_text(field)) return arrow::utf8();
  if (field.varies) return arrow::list(element_of(field));
  if (field.sample_shape.empty()) return number_type(field);
  const auto values = values_of_shape(field.sample_shape);
  if (values <= 0 || values > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        fmt::format("the samples of '{}' have {} values; a vector of Arrow must have 1 to 2^31 - 1", field.name, values));
  if (field.sample_shape.size() > 1) return arrow::extension::fixed_shape_tensor(number_type(field), field.sample_shape);
  return arrow::fixed_size_list(element_of(field), static_cast<std::int32_t>(values));
}

std::shared_ptr<arrow::Buffer> view_of(const std::vector<std::byte>& bytes) {
  return std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                         static_cast<std::int64_t>(bytes.size()));
}

/// Packs bools (one byte each) into bits, which is how Arrow stores them.
std::shared_ptr<arrow::Buffer> bits_of(const std::vector<std::byte>& flags) {
  auto bits = value_of(arrow::AllocateEmptyBitmap(static_cast<std::int64_t>(flags.size())));
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != std::byte{0}) arrow::bit_util::SetBit(bits->mutable_data(), static_cast<std::int64_t>(i));
  return bits;
}

std::shared_ptr<arrow::Array> numbers_of(const Dataset::Field& field, const Column& column) {
  const auto count = static_cast<std::int64_t>(column.values.size() / value_bytes(field.dtype));
  auto values = field.dtype == DType::boolean ? bits_of(column.values) : view_of(column.values);
  return arrow::MakeArray(arrow::ArrayData::Make(number_type(field), count, {nullptr, std::move(values)}, 0));
}

/// Returns the array of offsets that Arrow needs for `count` samples of different lengths: the beginning of each sample,
/// and the end of the last sample. The offsets count values of `bytes` bytes.
std::shared_ptr<arrow::Buffer> offsets_of(const Dataset::Field& field, const Column& column, std::size_t bytes,
                                          std::uint64_t count) {
  if (column.values.size() / bytes > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw UsageError(
        fmt::format("{} samples of '{}' have more than 2^31 values, the maximum of a block of Arrow: write a .jsonl file",
                    count, field.name));
  auto offsets = value_of(arrow::AllocateBuffer(static_cast<std::int64_t>((count + 1) * sizeof(std::int32_t))));
  auto* const out = offsets->mutable_data_as<std::int32_t>();
  out[0] = 0;
  for (std::uint64_t i = 0; i < count; ++i) out[i + 1] = static_cast<std::int32_t>(column.ends[i] / bytes);
  return offsets;
}

void require_texts(const Dataset::Field& field, const Column& column, std::uint64_t first, std::uint64_t count) {
  arrow::util::InitializeUTF8();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(column.values.data());
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto begin = i == 0 ? 0 : column.ends[i - 1];
    if (!arrow::util::ValidateUTF8(bytes + begin, static_cast<std::int64_t>(column.ends[i] - begin)))
      throw UsageError(
          fmt::format("row {}: the text of '{}' is not UTF-8: choose other fields with --columns", first + i, field.name));
  }
}

/// Returns the Arrow type of a field:
/// - `string` for texts
/// - `list` for other samples that vary in length
/// - `fixed_size_list` for vectors
/// - Arrow's `fixed_shape_tensor` for arrays with more axes
///
/// Values are not nullable; NaN is a value. Throws UsageError if Arrow has no type for the field.
std::shared_ptr<arrow::Field> arrow_field(const Dataset::Field& field) {
  return arrow::field(field.name, type_of(field), false);
}

/// Returns `count` samples of a field as an array of the type of arrow_field(). The array points into `column`, which
/// must outlive it. `first` is the index of the first sample in the table, for messages. Throws UsageError for a text
/// that is not UTF-8.
std::shared_ptr<arrow::Array> arrow_array(const Dataset::Field& field, const Column& column, std::uint64_t first,
                                          std::uint64_t count) {
  auto type = type_of(field);
  const auto rows = static_cast<std::int64_t>(count);
  if (is_text(field)) {
    require_texts(field, column, first, count);
    return arrow::MakeArray(
        arrow::ArrayData::Make(type, rows, {nullptr, offsets_of(field, column, 1, count), view_of(column.values)}, 0));
  }
  auto numbers = numbers_of(field, column);
  if (field.varies) {
    auto offsets = offsets_of(field, column, value_bytes(field.dtype), count);
    return arrow::MakeArray(arrow::ArrayData::Make(type, rows, {nullptr, std::move(offsets)}, {numbers->data()}, 0));
  }
  if (field.sample_shape.empty()) return numbers;
  return arrow::MakeArray(arrow::ArrayData::Make(type, rows, {nullptr}, {numbers->data()}, 0));
}

parquet::Compression::type codec_of(const std::string& name) {
  if (name.empty()) return parquet::Compression::UNCOMPRESSED;
  // Arrow's "lz4" uses the frame format, which Parquet does not allow.
  const auto codec = value_of(arrow::util::Codec::GetCompressionType(name == "lz4" ? "lz4_raw" : name));
  if (!arrow::util::Codec::IsAvailable(codec))
    throw UsageError(fmt::format("--compress {}: the installed Apache Arrow was built without this codec", name));
  return codec;
}

/// Returns whether to encode a field with a dictionary. Returns true for types with values that are likely to repeat, such
/// as labels and words, and for bytes, because Parquet would otherwise store each byte as four bytes.
bool wants_dictionary(const Dataset::Field& field) {
  switch (field.dtype) {
    case DType::u8:
    case DType::i8:
      return true;
    case DType::i64:
    case DType::i32:
    case DType::i16:
      return field.varies || field.sample_shape.empty();
    default:
      return false;
  }
}

std::shared_ptr<parquet::WriterProperties> properties_for(const std::vector<Dataset::Field>& fields,
                                                          const std::string& compression) {
  parquet::WriterProperties::Builder builder;
  builder.disable_dictionary()->compression(codec_of(compression))->enable_page_checksum();
  builder.max_row_group_length(std::numeric_limits<std::int64_t>::max());
  for (const auto& field : fields) {
    const bool is_list = field.varies ? field.dtype != DType::u8 : !field.sample_shape.empty();
    if (wants_dictionary(field)) builder.enable_dictionary(field.name + (is_list ? ".list.element" : ""));
  }
  return builder.build();
}

/// Adds the row group `from` to a footer. The positions of the row group's columns are increased by `shift` bytes.
void copy_group(const parquet::RowGroupMetaData& from, std::int64_t shift, std::int16_t number,
                parquet::RowGroupMetaDataBuilder& to) {
  to.set_num_rows(from.num_rows());
  for (int i = 0; i < from.num_columns(); ++i) {
    const auto column = from.ColumnChunk(i);
    auto* const made = to.NextColumnChunk();
    if (const auto statistics = column->encoded_statistics()) made->SetStatistics(*statistics);
    std::map<parquet::Encoding::type, std::int32_t> of_dictionaries, of_data;
    bool falls_back = false;
    for (const auto& pages : column->encoding_stats()) {
      const bool is_dictionary = pages.page_type == parquet::PageType::DICTIONARY_PAGE;
      const bool by_dictionary =
          pages.encoding == parquet::Encoding::RLE_DICTIONARY || pages.encoding == parquet::Encoding::PLAIN_DICTIONARY;
      (is_dictionary ? of_dictionaries : of_data)[pages.encoding] += pages.count;
      falls_back = falls_back || (column->has_dictionary_page() && !is_dictionary && !by_dictionary);
    }
    made->Finish(column->num_values(), column->has_dictionary_page() ? column->dictionary_page_offset() + shift : 0, -1,
                 column->data_page_offset() + shift, column->total_compressed_size(), column->total_uncompressed_size(),
                 column->has_dictionary_page(), falls_back, of_dictionaries, of_data);
  }
  to.Finish(from.total_byte_size(), number);
}

class ParquetEncoder final : public TableEncoder {
 public:
  ParquetEncoder(std::vector<Dataset::Field> fields, const std::string& compression)
      : fields_(std::move(fields)), properties_(properties_for(fields_, compression)) {
    arrow::FieldVector columns;
    for (const auto& field : fields_) columns.push_back(arrow_field(field));
    schema_ = arrow::schema(columns);
    empty_footer_ = write_file(nullptr, true).metadata;
    groups_ = parquet::FileMetaDataBuilder::Make(empty_footer_->schema(), properties_);
  }

  std::string_view head() const override { return magic; }

  EncodedBlock encode(std::uint64_t first, std::uint64_t count, std::span<const Column> columns) const override {
    arrow::ArrayVector arrays;
    for (std::size_t i = 0; i < fields_.size(); ++i) arrays.push_back(arrow_array(fields_[i], columns[i], first, count));
    const auto table = arrow::Table::Make(schema_, arrays, static_cast<std::int64_t>(count));
    const auto written = write_file(table.get(), false);
    const auto file = std::as_bytes(std::span(written.file->data(), static_cast<std::size_t>(written.file->size())));
    // A Parquet file consists of: magic, row group, footer, size of the footer, magic.
    std::uint32_t footer_bytes = 0;
    constexpr std::size_t tail = sizeof footer_bytes + magic.size();
    std::memcpy(&footer_bytes, file.last(tail).data(), sizeof footer_bytes);
    const auto notes = file.last(tail + footer_bytes).first(footer_bytes);
    const auto values = file.subspan(magic.size(), file.size() - magic.size() - tail - notes.size());
    return {{values.begin(), values.end()}, {notes.begin(), notes.end()}};
  }

  void add(std::span<const std::byte> notes, std::uint64_t offset) override {
    guarded(nullptr, [&] {
      const auto block = parquet::FileMetaData::Make(notes.data(), static_cast<std::int64_t>(notes.size()));
      if (block->num_row_groups() != 1 || block->num_columns() != empty_footer_->num_columns())
        throw Error("the metadata of a block of rows does not match the columns of the file");
      constexpr int max_number = 32'767;  // the footer stores numbers of row groups in 16 bits
      const auto number = static_cast<std::int16_t>(count_ > max_number ? -1 : count_);
      copy_group(*block->RowGroup(0), static_cast<std::int64_t>(offset - magic.size()), number, *groups_->AppendRowGroup());
      ++count_;
    });
  }

  std::vector<std::byte> finish() override {
    return guarded(nullptr, [&] {
      const auto metadata = groups_->Finish(empty_footer_->key_value_metadata());
      const auto sink = value_of(arrow::io::BufferOutputStream::Create());
      parquet::WriteFileMetaData(*metadata, sink.get());
      const auto buffer = value_of(sink->Finish());
      const auto bytes = std::as_bytes(std::span(buffer->data(), static_cast<std::size_t>(buffer->size())));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
  }

 private:
  struct Written {
    std::shared_ptr<arrow::Buffer> file;
    std::shared_ptr<parquet::FileMetaData> metadata;
  };

  /// Writes a Parquet file to memory. The file has one row group, or none if `table` is nullptr. With `with_schema`, it
  /// also contains Arrow's schema.
  Written write_file(const arrow::Table* table, bool with_schema) const {
    return guarded(nullptr, [&] {
      parquet::ArrowWriterProperties::Builder as_arrow;
      as_arrow.set_use_threads(false);
      if (with_schema) as_arrow.store_schema();
      const auto sink = value_of(arrow::io::BufferOutputStream::Create());
      const auto writer = value_of(
          parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(), sink, properties_, as_arrow.build()));
      if (table != nullptr) require_ok(writer->WriteTable(*table, table->num_rows()));
      require_ok(writer->Close());
      return Written{value_of(sink->Finish()), writer->metadata()};
    });
  }

  std::vector<Dataset::Field> fields_;
  std::shared_ptr<parquet::WriterProperties> properties_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<parquet::FileMetaData> empty_footer_;  // footer of a file without rows
  std::unique_ptr<parquet::FileMetaDataBuilder> groups_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<TableEncoder> encode_parquet(std::vector<Dataset::Field> fields, const std::string& compression) {
  return guarded(nullptr, [&] { return std::make_unique<ParquetEncoder>(std::move(fields), compression); });
}

}  // namespace trainrt::data::arrow_module
