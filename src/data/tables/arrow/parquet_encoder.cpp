// Each block is encoded in memory as a Parquet file with one row group. The footer of this file contains the offsets of
// the columns. The footer of the complete file is made from the footers of the blocks. Their offsets are increased by
// the position of the block in the complete file.
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "data/tables/arrow/arrow_arrays.hpp"
#include "data/tables/arrow/arrow_input.hpp"

namespace trainrt::data::arrow_module {

namespace {

constexpr std::string_view magic = "PAR1";

parquet::Compression::type codec_of(const std::string& name) {
  if (name.empty()) return parquet::Compression::UNCOMPRESSED;
  // Arrow's "lz4" uses the frame format, which Parquet does not allow.
  const auto codec = value_of(arrow::util::Codec::GetCompressionType(name == "lz4" ? "lz4_raw" : name));
  if (!arrow::util::Codec::IsAvailable(codec))
    throw UsageError(fmt::format("--compress {}: the installed Apache Arrow was built without this codec", name));
  return codec;
}

/// Returns whether to encode a field with a dictionary. This is the case for types with values that are likely to repeat,
/// such as labels and words. It is also the case for bytes, because Parquet would otherwise store each byte as four
/// bytes.
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
        throw Error("the metadata of a block does not match the file");
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
