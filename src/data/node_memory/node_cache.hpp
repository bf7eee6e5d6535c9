#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/node_memory/node_share.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "data/node_memory/unit_states.hpp"
#include "data/source/row_ranges.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// A source whose values are kept in memory that the ranks of a node share: each unit is read from the files once a node,
/// by whoever needs it first, and copied from memory from then on. Nobody hangs on another rank: the turn of one that dies
/// or meets an error goes to the next, and who has waited too long reads its samples itself, as it does if there is no
/// memory.
class NodeCache final : public Source {
 public:
  struct Part {
    std::string name;         ///< of the dataset, for messages
    int rank = 0;             ///< of this one
    std::string rows = {};    ///< which samples will be asked for: text of RowRanges; empty: all
    double most_wait_s = 60;  ///< for another rank that reads a unit
  };
  /// Bytes of the memory that a cache takes, with its states in front.
  static std::size_t memory_bytes(const UnitLayout& layout);
  static std::size_t state_bytes(const UnitLayout& layout);
  /// The states in share.memory are made (UnitStates::make()). `let_go` closes
  /// what `source` has open: it opens what it needs again.
  NodeCache(std::shared_ptr<const Source> source, std::function<void()> let_go, UnitLayout layout, NodeShare share,
            Part part);

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  /// Once all units that will be asked for are there, of all fields that were asked for.
  bool is_resident() const override;

 private:
  bool is_complete(std::size_t field) const { return states_.filled(field) >= needed_; }
  std::vector<bool> absent(std::span<const std::uint64_t> samples, std::span<const Column> columns) const;
  bool has(std::size_t unit, std::span<const std::size_t> fields) const;
  bool fill(std::size_t unit, std::span<const std::size_t> fields) const;
  bool reserve(std::size_t unit, std::span<const std::size_t> fields) const;
  bool reserve(std::uint64_t at, std::uint64_t bytes) const;
  bool copy_to_memory(std::size_t unit, std::span<const std::size_t> fields) const;
  bool copy_samples(std::uint64_t first, std::uint64_t end, std::span<const std::size_t> fields) const;
  bool keep_varying(const Column& column, std::uint64_t first) const;
  void give_varying(std::span<const std::uint64_t> samples, Column& column) const;
  void read_absent(std::span<const std::uint64_t> samples, const std::vector<bool>& absent,
                   std::span<Column> columns) const;
  double patience_s(std::size_t unit) const;
  void note_overdue(std::size_t unit, std::size_t field) const;
  std::size_t place(std::size_t field) const;

  std::shared_ptr<const Source> source_;
  std::function<void()> let_go_;
  UnitLayout layout_;
  NodeShare share_;
  Part part_;
  std::size_t needed_;  ///< units that will be asked for
  mutable UnitStates states_;
  ValueArena arena_;
  mutable std::mutex mutex_;
  mutable int filling_ = 0;                    ///< threads of this rank that read units
  mutable std::set<std::size_t> overdue_;      ///< units that were waited for in vain
  mutable std::atomic<bool> is_open_ = false;  ///< the source may have files open
  mutable std::atomic<bool> lacks_memory_ = false;
  mutable std::atomic<bool> is_full_ = false;  ///< the arena: no more units are read into it
};

}  // namespace trainrt::data
