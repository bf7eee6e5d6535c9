#pragma once
#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/future.h>
#include <trainrt/error.hpp>

#include "data/tables/table_abi.hpp"

namespace trainrt::data::arrow_module {

/// Adapts a TableInput to Arrow's interface for files, for one thread. Because exceptions must not pass through Arrow, a
/// failed read returns an arrow::Status. guarded() then rethrows the original exception.
class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  ArrowInput(std::shared_ptr<const TableInput> input, arrow::MemoryPool* pool) : input_(std::move(input)), pool_(pool) {}

  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<std::int64_t> Tell() const override { return offset_; }
  arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(input_->size()); }
  arrow::Status Seek(std::int64_t position) override {
    if (position < 0 || static_cast<std::uint64_t>(position) > input_->size())
      return arrow::Status::IOError("the file refers to bytes beyond its end");
    offset_ = position;
    return arrow::Status::OK();
  }

  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    if (bytes < 0) return arrow::Status::IOError("the file refers to a negative number of bytes");
    const auto count = std::min(bytes, static_cast<std::int64_t>(input_->size()) - offset_);
    try {
      input_->read(static_cast<std::uint64_t>(offset_), {static_cast<std::byte*>(out), static_cast<std::size_t>(count)});
    } catch (...) {
      exception_ = std::current_exception();
      return arrow::Status::IOError("the file cannot be read");
    }
    offset_ += count;
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    const auto left = static_cast<std::int64_t>(input_->size()) - offset_;
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(std::clamp<std::int64_t>(bytes, 0, left), pool_));
    ARROW_RETURN_NOT_OK(Read(buffer->size(), buffer->mutable_data()).status());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  // Reads in the calling thread, because Arrow's own threads could still read after the file was closed.
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, bytes));
  }
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes, bool allow_short_read) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(
        RandomAccessFile::ReadAt(position, bytes, allow_short_read));
  }

  /// Returns the last exception of TableInput::read() and forgets it. Returns nullptr if there was none.
  std::exception_ptr take_exception() { return std::exchange(exception_, nullptr); }

 private:
  std::shared_ptr<const TableInput> input_;
  arrow::MemoryPool* pool_;
  std::int64_t offset_ = 0;
  std::exception_ptr exception_;
};

/// Returns an Error with `text`, a message of Arrow. If the message reports a full memory pool, adds which limit applies.
inline Error arrow_error(std::string text) {
  if (text.find("cap exceeded") != std::string::npos)
    text += ". The limit is max_expanded_bytes, or the available memory if that is less";
  return Error(text);
}

inline void require_ok(const arrow::Status& status) {
  if (!status.ok()) throw arrow_error(status.message());
}

template <class T>
T value_of(arrow::Result<T> result) {
  require_ok(result.status());
  return std::move(result).ValueUnsafe();
}

/// Calls `function`. If it throws, rethrows the exception that reading `input` threw, if there is one; otherwise converts
/// an exception that is not an Error to Error. `input` may be null.
template <class Function>
auto guarded(const std::shared_ptr<ArrowInput>& input, const Function& function) try {
  return function();
} catch (const std::exception& error) {
  if (input)
    if (const auto exception = input->take_exception()) std::rethrow_exception(exception);
  if (dynamic_cast<const Error*>(&error) != nullptr) throw;
  throw arrow_error(error.what());
}

/// Calls `function`. If it throws Error or UsageError, adds the name of the column to the message.
template <class Function>
void in_column(const TableColumn& column, const Function& function) try {
  function();
} catch (const UsageError& error) {
  throw UsageError("column '" + column.name + "': " + error.what());
} catch (const Error& error) {
  throw Error("column '" + column.name + "': " + error.what());
}

/// The common base of the readers of Parquet and Arrow files.
class ReaderBase : public TableReader {
 public:
  const std::vector<TableColumn>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& blocks() const override { return blocks_; }

 protected:
  /// `max_memory` is the maximum size in bytes of all buffers that Arrow allocates for this file.
  ReaderBase(std::shared_ptr<const TableInput> input, std::uint64_t max_memory)
      : input_(std::move(input)),
        pool_(arrow::default_memory_pool(), static_cast<std::int64_t>(std::min(max_memory, max_rows))) {}
  /// Adds a block. Throws Error if the number of rows is impossible.
  void add_block(std::int64_t rows) {
    rows_ += static_cast<std::uint64_t>(rows);
    if (rows < 0 || rows_ > max_rows) throw Error("the file is damaged: it declares more rows than a file can have");
    blocks_.push_back(static_cast<std::uint64_t>(rows));
  }
  /// Returns the number of rows before a block.
  std::uint64_t rows_before(std::size_t block) const {
    return std::accumulate(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(block), std::uint64_t{0});
  }

  static constexpr std::uint64_t max_rows = std::uint64_t{1} << 48;
  std::shared_ptr<const TableInput> input_;
  mutable arrow::CappedMemoryPool pool_;
  std::vector<TableColumn> columns_;
  std::vector<std::uint64_t> blocks_;

 private:
  std::uint64_t rows_ = 0;  // number of rows of all blocks that were added
};

std::unique_ptr<const TableReader> open_parquet(std::shared_ptr<const TableInput> input, std::uint64_t max_memory);
std::unique_ptr<const TableReader> open_arrow(std::shared_ptr<const TableInput> input, std::uint64_t max_memory,
                                              std::vector<std::uint64_t> blocks);
std::unique_ptr<TableEncoder> encode_parquet(std::vector<Dataset::Field> fields, const std::string& compression);

}  // namespace trainrt::data::arrow_module
