#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// Several sources with the same fields, one behind the other. A part is opened when it is first read; unless the parts are
/// kept in memory, it is closed when too many others have been read since.
class ConcatenatedSource final : public Source {
 public:
  using Open = std::function<std::shared_ptr<const Source>(std::size_t part)>;
  static constexpr std::size_t most_open = 64;

  /// `sizes`: samples of each part. `keep`: the parts keep what they hold in memory, and stay open.
  ConcatenatedSource(std::vector<Dataset::Field> fields, const std::vector<std::uint64_t>& sizes, Open open, bool keep);
  std::uint64_t size() const override { return ends_.back(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  /// Once all parts were opened, and are in memory.
  bool is_resident() const override;
  /// Closes the parts; they are opened again when they are read.
  void close() const;

 private:
  std::size_t part_of(std::uint64_t sample) const;
  std::uint64_t begin_of(std::size_t number) const { return number == 0 ? 0 : ends_[number - 1]; }
  bool are_all_in(std::size_t number, std::span<const std::uint64_t> samples) const;
  std::shared_ptr<const Source> part(std::size_t number) const;

  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;  ///< samples in all up to the end of each part
  Open open_;
  bool keep_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Source>> parts_;  ///< those that are open
  mutable std::vector<std::size_t> recent_;                   ///< their numbers, the last one used at the end; not if kept
};

}  // namespace trainrt::data
