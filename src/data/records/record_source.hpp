#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data/records/record_file.hpp"
#include "data/source/row_source.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// A function that returns a decoder for one request of samples. The decoder writes the values of one record (such as a
/// row) per call to `columns`, which must outlive it.
///
/// The index of the record is 0 in the first call of the decoder and increases by one with each call. Columns of fixed
/// length must already have their final size. For a value of the wrong type, the decoder throws UsageError, with file,
/// row, field and value. The RecordDecoder itself is thread-safe.
using RecordDecoder = std::function<RecordFile::Take(std::span<Column> columns)>;

/// A source that has the records of a text file as samples.
class RecordSource final : public Source {
 public:
  /// `keep`: the constructor reads all values and keeps them in memory.
  RecordSource(std::shared_ptr<const RecordFile> records, std::vector<Dataset::Field> fields, RecordDecoder decoder,
               bool keep);
  std::uint64_t size() const override { return records_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return !kept_.empty(); }
  /// Decodes the first `samples` samples to check them. Throws the errors of the decoder.
  void check_first(std::uint64_t samples) const { first(samples); }

 private:
  std::vector<Column> first(std::uint64_t samples) const;
  RecordFile::Take begin(std::uint64_t samples, std::span<Column> columns) const;
  void read_ascending(std::span<const std::uint64_t> samples, std::span<Column> columns) const;

  std::shared_ptr<const RecordFile> records_;
  std::vector<Dataset::Field> fields_;
  RecordDecoder decoder_;
  std::vector<Column> kept_;  ///< for each field, all values, if they are kept in memory
};

}  // namespace trainrt::data
