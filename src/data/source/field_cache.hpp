#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source that keeps its small fields, such as labels, in memory. It reads such a field completely when the field is
/// first used. Other fields are read from `source` each time.
class FieldCache final : public WrappedSource {
 public:
  /// Chooses the fields to keep in memory: fields of fixed length, the smallest first, up to `max_bytes` bytes in total.
  FieldCache(std::shared_ptr<const Source> source, std::uint64_t max_bytes);
  std::uint64_t bytes() const { return bytes_; }  ///< size of the fields that are kept

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  struct Kept {
    std::mutex mutex;  ///< std::call_once() is not used: with a thread sanitizer, it hangs after an exception
    bool is_read = false;
    Column column;
  };
  void read_kept(std::span<const std::uint64_t> samples, Column& column) const;

  std::vector<std::unique_ptr<Kept>> kept_;  ///< kept values of each field; nullptr if the field is not kept
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::data
