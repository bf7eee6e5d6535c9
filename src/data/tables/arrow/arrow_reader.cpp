#include <map>

#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/column_values.hpp"

namespace trainrt::data::arrow_module {

namespace {

constexpr std::size_t max_idle = 64;

/// An open file. Its reader reads only the columns that were chosen when the file was opened. Only one thread at a time
/// may use it.
struct BatchReader {
  std::shared_ptr<ArrowInput> input;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
};

/// Reads Arrow IPC files. Feather files (version 2) are such files.
class ArrowReader final : public ReaderBase {
 public:
  ArrowReader(std::shared_ptr<const TableInput> input, std::uint64_t max_memory, std::vector<std::uint64_t> blocks)
      : ReaderBase(std::move(input), max_memory) {
    blocks_ = std::move(blocks);
    const auto reader = open({});
    for (const auto& field : reader.file->schema()->fields()) columns_.push_back(describe_column(*field));
    const auto batches = static_cast<std::size_t>(reader.file->num_record_batches());
    if (columns_.empty()) throw Error("the file has no columns");
    if (blocks_.empty())
      find_blocks(batches);
    else if (blocks_.size() != batches)
      throw Error("the file was changed since the run listed it; restore the file, or start again");
  }

  std::uint64_t varying_bytes(std::size_t block, std::size_t) const override {
    return blocks_[block] * sizeof(std::uint64_t);
  }

  bool has_missing_values(std::size_t column) const override {
    if (!columns_[column].is_nullable) return false;
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      if (batch_of(block, {static_cast<int>(column)})->column(0)->null_count() != 0) return true;
    return false;
  }

  void read(std::size_t block, std::span<const TableTarget> targets) const override {
    std::vector<int> chosen;
    for (const auto& target : targets) chosen.push_back(static_cast<int>(target.column));
    std::ranges::sort(chosen);
    const auto batch = batch_of(block, chosen);
    if (static_cast<std::uint64_t>(batch->num_rows()) != blocks_[block])
      throw Error("the file was changed since the run listed it; restore the file, or start again");
    for (const auto& target : targets) {
      const auto at = std::ranges::lower_bound(chosen, static_cast<int>(target.column)) - chosen.begin();
      put_values(*batch->column(static_cast<int>(at)), columns_[target.column], target, {0, rows_before(block)});
    }
  }

 private:
  BatchReader open(const std::vector<int>& columns) const {
    BatchReader reader{std::make_shared<ArrowInput>(input_, &pool_), nullptr};
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = &pool_;
    options.use_threads = false;
    options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
    options.included_fields = columns;
    guarded(reader.input, [&] { reader.file = value_of(arrow::ipc::RecordBatchFileReader::Open(reader.input, options)); });
    return reader;
  }

  BatchReader take(const std::vector<int>& columns) const {
    {
      const std::lock_guard lock(mutex_);
      if (auto node = idle_.extract(columns)) return std::move(node.mapped());
    }
    return open(columns);
  }

  std::shared_ptr<arrow::RecordBatch> batch_of(std::size_t block, const std::vector<int>& columns) const {
    auto reader = take(columns);
    const auto batch =
        guarded(reader.input, [&] { return value_of(reader.file->ReadRecordBatch(static_cast<int>(block))); });
    if (static_cast<std::size_t>(batch->num_columns()) != columns.size())
      throw Error("the file is damaged: a record batch has a different number of columns than the schema");
    const std::lock_guard lock(mutex_);
    if (idle_.size() < max_idle) idle_.emplace(columns, std::move(reader));
    return batch;
  }

  /// Finds the number of rows of each record batch. The file stores this number with the values of the batch, so one
  /// column of the batch must be read.
  void find_blocks(std::size_t batches) {
    std::size_t cheapest = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[cheapest].varies && !columns_[i].varies && columns_[i].unreadable.empty()) cheapest = i;
    for (std::size_t block = 0; block < batches; ++block)
      add_block(batch_of(block, {static_cast<int>(cheapest)})->num_rows());
  }

  mutable std::mutex mutex_;
  mutable std::multimap<std::vector<int>, BatchReader> idle_;  // readers that no thread is using, by their columns
};

}  // namespace

std::unique_ptr<const TableReader> open_arrow(std::shared_ptr<const TableInput> input, std::uint64_t max_memory,
                                              std::vector<std::uint64_t> blocks) {
  return guarded(nullptr,
                 [&] { return std::make_unique<const ArrowReader>(std::move(input), max_memory, std::move(blocks)); });
}

}  // namespace trainrt::data::arrow_module
