#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/node_memory/unit_layout.hpp"
#include "data/node_memory/unit_states.hpp"
#include "data/source/row_ranges.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Memory that several processes share, and from which each of them can allocate. Allocations are never freed, not even
/// those of a process that dies. The processes may map the memory at different addresses.
class ValueArena {
 public:
  /// Returns the size in bytes of the memory that an arena for `capacity` bytes of values needs.
  static std::size_t memory_bytes(std::uint64_t capacity) {
    return capacity == 0 ? 0 : line + static_cast<std::size_t>(capacity);
  }

  /// `memory` must be filled with zeros before its first use, and its address must be a multiple of 8.
  ValueArena(std::byte* memory, std::uint64_t capacity) : memory_(memory), capacity_(capacity) {}
  /// Allocates `bytes` bytes and returns their position, or nullopt if the arena has too few left.
  std::optional<std::uint64_t> take(std::uint64_t bytes) const {
    const std::atomic_ref<std::uint64_t> used(*reinterpret_cast<std::uint64_t*>(memory_));
    auto at = used.load();
    do
      if (bytes > capacity_ - at) return std::nullopt;
    while (!used.compare_exchange_weak(at, at + bytes));
    return at;
  }
  std::byte* values(std::uint64_t at) const { return memory_ + line + at; }

 private:
  static constexpr std::size_t line = 64;  ///< size of the cache line before the values, with the count of allocated bytes

  std::byte* memory_;
  std::uint64_t capacity_;
};

/// A source that keeps its values in memory that the ranks of a node share. The samples are divided into units, which are
/// groups of consecutive samples (UnitLayout). The first rank that needs a unit reads the unit from the files. From then
/// on, all ranks copy the unit from memory.
///
/// No rank depends on another one. If a rank dies or fails while it reads a unit, the next rank that needs the unit
/// reads it. A rank reads its samples directly from the files if it has waited too long for another rank, or if there is
/// not enough memory.
class NodeCache final : public Source {
 public:
  struct Settings {
    std::string name;        ///< name of the dataset, for messages
    int rank = 0;            ///< rank of this process
    std::string rows = {};   ///< the samples that will be read, as the text of a RowRanges; "": all samples
    double max_wait_s = 60;  ///< maximum number of seconds to wait for another rank that reads a unit
  };
  /// memory_bytes() returns the size of the shared memory that a cache needs. state_bytes() returns the size of the
  /// UnitStates at the beginning of this memory.
  static std::size_t memory_bytes(const UnitLayout& layout);
  static std::size_t state_bytes(const UnitLayout& layout);
  /// `share.memory` must begin with the states that UnitStates::make() has initialized. `close_files` must close the open
  /// files of `source`, which opens them again when needed.
  NodeCache(std::shared_ptr<const Source> source, std::function<void()> close_files, UnitLayout layout, NodeShare share,
            Settings settings);

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  /// Returns whether all values that will be read are in memory, so that the source is no longer needed: for each field
  /// that has values in memory, all units with samples of Settings::rows. Other fields are assumed to be unused.
  /// Returns false if no field has values in memory. If the result is true, closes the files that the source has
  /// opened.
  bool is_resident() const override;

 private:
  using Samples = std::span<const std::uint64_t>;
  using FieldNumbers = std::span<const std::size_t>;

  void read_source(Samples samples, std::span<Column> columns) const;
  std::vector<bool> missing(Samples samples, std::span<const Column> columns) const;
  bool has(std::size_t unit, FieldNumbers fields) const;
  bool fill(std::size_t unit, FieldNumbers fields) const;
  bool reserve(std::uint64_t offset, std::uint64_t bytes) const;
  bool copy_unit(std::size_t unit, FieldNumbers fields) const;
  bool copy_samples(std::uint64_t first, std::uint64_t end, FieldNumbers fields) const;
  bool copy_varying(const Column& column, std::uint64_t first) const;
  void give_varying(Samples samples, Column& column) const;
  void read_missing(Samples samples, const std::vector<bool>& missing, std::span<Column> columns) const;
  double wait_s(std::size_t unit) const;
  void note_timeout(std::size_t unit, std::size_t field) const;
  std::byte* values(std::size_t field) const;

  std::shared_ptr<const Source> source_;
  std::function<void()> close_files_;
  UnitLayout layout_;
  NodeShare share_;
  Settings settings_;
  std::size_t needed_;  ///< number of units that contain samples of Settings::rows
  mutable UnitStates states_;
  ValueArena arena_;
  mutable std::mutex mutex_;
  mutable int filling_ = 0;                    ///< number of threads of this rank that are reading units
  mutable std::set<std::size_t> timed_out_;    ///< units that another rank did not finish in time
  mutable std::atomic<bool> is_open_ = false;  ///< whether the source may have open files
  mutable std::atomic<bool> lacks_memory_ = false;
  mutable std::atomic<bool> is_full_ = false;  ///< whether the arena is full, so that no more units are read into it
};

}  // namespace trainrt::data
