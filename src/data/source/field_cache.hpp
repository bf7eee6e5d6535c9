#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source whose small fields, labels mostly, are kept in memory: each is read as a whole when it is first asked for, so
/// that a batch costs no read for it. The others are read as ever.
class FieldCache final : public Source {
 public:
  /// Keeps the fields of fixed length that take at most `most_bytes` together, the smallest first.
  FieldCache(std::shared_ptr<const Source> source, std::uint64_t most_bytes);
  /// Bytes that they take.
  std::uint64_t bytes() const { return bytes_; }

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return source_->is_resident(); }

 private:
  struct Kept {
    std::once_flag is_read;
    std::vector<std::byte> values;
  };
  void read_kept(std::span<const std::uint64_t> samples, Column& column) const;

  std::shared_ptr<const Source> source_;
  std::vector<std::unique_ptr<Kept>> kept_;  ///< by the number of the field; null: it is not kept
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::data
