#pragma once
#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/future.h>
#include <trainrt/error.hpp>

#include "data/tables/table_encoder.hpp"
#include "data/tables/table_abi.hpp"

namespace trainrt::data::arrow_module {

/// A file of a dataset, as Arrow reads files. What reading throws is kept, as Arrow knows only messages.
class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  ArrowInput(std::shared_ptr<const TableInput> input, arrow::MemoryPool* pool) : input_(std::move(input)), pool_(pool) {}
  using arrow::io::RandomAccessFile::ReadAsync;
  using arrow::io::RandomAccessFile::ReadAt;

  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  arrow::Status Seek(std::int64_t position) override { return at_ = position, arrow::Status::OK(); }
  arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(input_->size()); }

  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes, void* out) override {
    const auto size = static_cast<std::int64_t>(input_->size());
    if (position < 0 || bytes < 0 || position > size) return arrow::Status::IOError("it points beyond its end");
    const auto count = std::min(bytes, size - position);
    try {
      input_->read(static_cast<std::uint64_t>(position), {static_cast<std::byte*>(out), static_cast<std::size_t>(count)});
    } catch (...) {
      const std::lock_guard lock(mutex_);
      trouble_ = std::current_exception();
      return arrow::Status::IOError("it cannot be read");
    }
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t bytes) override {
    const auto size = static_cast<std::int64_t>(input_->size());
    if (position < 0 || bytes < 0 || position > size) return arrow::Status::IOError("it points beyond its end");
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(std::min(bytes, size - position), pool_));
    ARROW_RETURN_NOT_OK(ReadAt(position, buffer->size(), buffer->mutable_data()).status());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  /// In this thread: Arrow's own threads would outlive the file.
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, bytes));
  }
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes, bool allow_short_read) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(
        RandomAccessFile::ReadAt(position, bytes, allow_short_read));
  }

  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const auto count, ReadAt(at_, bytes, out));
    at_ += count;
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, bytes));
    at_ += buffer->size();
    return buffer;
  }

  /// What reading threw last.
  std::exception_ptr take_trouble() {
    const std::lock_guard lock(mutex_);
    return std::exchange(trouble_, nullptr);
  }

 private:
  std::shared_ptr<const TableInput> input_;
  arrow::MemoryPool* pool_;
  std::int64_t at_ = 0;
  std::mutex mutex_;
  std::exception_ptr trouble_;
};

/// What Arrow says; of a pool that is full also which limit that is.
inline Error arrow_error(std::string text) {
  if (text.find("cap exceeded") != std::string::npos)
    text += ". The limit is max_expanded_bytes, or the memory that is available if that is less";
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

/// What Arrow's readers throw, as an Error.
template <class Function>
auto guarded(const std::shared_ptr<ArrowInput>& input, const Function& function) try {
  return function();
} catch (const std::exception& error) {
  if (input)
    if (const auto trouble = input->take_trouble()) std::rethrow_exception(trouble);
  if (dynamic_cast<const Error*>(&error) != nullptr) throw;
  throw arrow_error(error.what());
}

std::unique_ptr<const TableFile> open_parquet(std::shared_ptr<const TableInput> input, std::uint64_t most_memory);
std::unique_ptr<const TableFile> open_arrow(std::shared_ptr<const TableInput> input, std::uint64_t most_memory,
                                            std::vector<std::uint64_t> blocks);
std::unique_ptr<TableEncoder> encode_parquet(std::vector<Dataset::Field> fields, const std::string& compression);

}  // namespace trainrt::data::arrow_module
