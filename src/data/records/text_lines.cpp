#include "data/records/record_formats.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/records/text_file.hpp"

namespace trainrt::data {

namespace {

class TextPass final : public RecordPass {
 public:
  explicit TextPass(std::span<Column> columns) : columns_(columns) {}
  void take(const Record& record, std::size_t) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(record.text.data());
    for (auto& column : columns_) {
      column.values.insert(column.values.end(), bytes, bytes + record.text.size());
      column.ends.push_back(column.values.size());
    }
  }

 private:
  std::span<Column> columns_;
};

class TextDecoder final : public RecordDecoder {
 public:
  std::unique_ptr<RecordPass> pass(std::span<Column> columns) const override { return std::make_unique<TextPass>(columns); }
};

}  // namespace

FileContent probe_text_lines(const DataFile& file, const Options& options, const RecordLimits& limits) {
  const auto scan = scan_rows(
      *open_text_file(file),
      {.skip_empty = options.boolean("drop_empty_lines"), .max_row_bytes = options.bytes("max_record_bytes")}, limits.spacing);
  if (scan.index.records() == 0) throw UsageError(fmt::format("'{}' has no lines", file.path));
  PackedWriter packed;
  scan.index.pack(packed);
  return {scan.index.records(), {{"text", DType::u8, {}, true}}, packed.take()};
}

std::unique_ptr<Source> open_text_lines(const DataFile& file, const FileContent& content, const Options& options,
                                        bool keep) {
  PackedReader packed(content.index);
  auto records = std::make_shared<RecordFile>(open_text_file(file), RecordIndex::unpacked(packed), false,
                                              options.boolean("drop_empty_lines"));
  return std::make_unique<RecordSource>(std::move(records), content.fields, std::make_unique<TextDecoder>(), keep);
}

}  // namespace trainrt::data
