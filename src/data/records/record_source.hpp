#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data/records/record_file.hpp"
#include "data/source/row_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Reads records into columns, one after another.
class RecordPass {
 public:
  virtual ~RecordPass() = default;
  /// Puts the values of a record down as the sample at that place: places follow one another from 0 on, and columns of
  /// fixed length have the room. Throws UsageError that names file, row, field and value if they are not of their type.
  virtual void take(const Record& record, std::size_t place) = 0;
};

/// Knows what stands in a record.
class RecordDecoder {
 public:
  virtual ~RecordDecoder() = default;
  /// `columns` outlive the pass, and stay where they are.
  virtual std::unique_ptr<RecordPass> pass(std::span<Column> columns) const = 0;
};

/// How text files are looked at; tests set less.
struct RecordLimits {
  std::uint64_t spacing = RecordIndex::default_spacing;
  std::uint64_t probed = 10'000;          ///< records that types are inferred from, and whose values are checked
  std::uint64_t max_probed_bytes = 64 << 20;  ///< of the file, that these may take
};

/// Samples that are the records of a text file. `keep`: all values are read at once.
class RecordSource final : public Source {
 public:
  RecordSource(std::shared_ptr<const RecordFile> records, std::vector<Dataset::Field> fields,
               std::unique_ptr<const RecordDecoder> decoder, bool keep);
  std::uint64_t size() const override { return records_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return !kept_.empty(); }
  /// Reads the values of so many samples, and throws if they are not of their types.
  void check_first(std::uint64_t samples) const { first(samples); }

 private:
  std::vector<Column> first(std::uint64_t samples) const;
  std::unique_ptr<RecordPass> begin(std::uint64_t samples, std::span<Column> columns) const;
  void read_ascending(std::span<const std::uint64_t> samples, std::span<Column> columns) const;

  std::shared_ptr<const RecordFile> records_;
  std::vector<Dataset::Field> fields_;
  std::unique_ptr<const RecordDecoder> decoder_;
  std::vector<Column> kept_;  ///< of each field
};

}  // namespace trainrt::data
