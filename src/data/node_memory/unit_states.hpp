#pragma once
#include <cstddef>
#include <cstdint>

#include "data/node_memory/unit_layout.hpp"

namespace trainrt::data {

/// Stores two facts for each unit of samples (UnitLayout) and each field: whether the values are in memory, and which
/// thread may read them from the files now (a lock). The states are in memory that several processes share, each at its
/// own address. The kernel releases the lock of a process that dies. Several threads may call the functions at the same
/// time.
class UnitStates {
 public:
  /// Returns the size of the states.
  static std::size_t bytes(const UnitLayout& layout);
  /// Initializes the states in zeroed memory. One process must call make() before any process uses the states.
  static void make(std::byte* memory, const UnitLayout& layout);

  /// Uses the states in `memory`, which must outlive this object.
  UnitStates(std::byte* memory, const UnitLayout& layout);
  bool is_filled(std::size_t unit, std::size_t field) const;
  std::size_t filled(std::size_t field) const;  ///< number of filled units of a field

  enum class Claim : std::uint8_t {
    granted,    ///< this thread holds the lock: it fills the unit, and calls release()
    is_filled,  ///< another thread has filled the unit
    timed_out,  ///< another thread still holds the lock, probably one of busy_rank()
  };
  /// Waits for the lock of a unit and field for at most `wait_s` seconds. `rank` is the rank of the caller, which
  /// busy_rank() returns to others.
  Claim claim(std::size_t unit, std::size_t field, int rank, double wait_s);
  /// Releases the lock of a unit and field. `is_filled`: the values are complete in memory now.
  void release(std::size_t unit, std::size_t field, bool is_filled);
  /// Returns the last rank that locked the unit and field by claim().
  int busy_rank(std::size_t unit, std::size_t field) const;

 private:
  struct State;
  struct Count;
  State& state(std::size_t unit, std::size_t field) const;

  std::size_t fields_;
  Count* counts_;
  State* states_;
};

}  // namespace trainrt::data
