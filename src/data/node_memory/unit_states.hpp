#pragma once
#include <cstddef>
#include <cstdint>

#include "data/node_memory/unit_layout.hpp"

namespace trainrt::data {

/// Stores two facts for each field of each unit, which is a group of samples (UnitLayout): whether the values are in
/// memory, and which thread may read them from the files now (a lock). Several processes share the memory of the states
/// and may map it at different addresses. The kernel releases the lock of a process that dies. Thread-safe.
class UnitStates {
 public:
  /// Returns the number of bytes of memory that the states of all units need.
  static std::size_t bytes(const UnitLayout& layout);
  /// Initializes the states in zeroed memory. One process must call make() before any process uses the states.
  static void make(std::byte* memory, const UnitLayout& layout);

  /// Uses the states in `memory`, which must outlive this object.
  UnitStates(std::byte* memory, const UnitLayout& layout);
  bool is_filled(std::size_t unit, std::size_t field) const;
  std::size_t filled(std::size_t field) const;  ///< number of units in which the values of the field are in memory

  enum class Claim : std::uint8_t {
    granted,    ///< this thread has the lock: it must read the values of the field into memory, then call release()
    is_filled,  ///< the values are in memory; this thread does not have the lock
    timed_out,  ///< another thread still holds the lock, probably a thread of the rank busy_rank()
  };
  /// Waits at most `wait_s` seconds for the lock of a field of a unit. `rank` is the rank of the caller; busy_rank()
  /// returns it to other ranks.
  Claim claim(std::size_t unit, std::size_t field, int rank, double wait_s);
  /// Releases the lock of a field of a unit. `is_filled`: the values are now completely in memory.
  void release(std::size_t unit, std::size_t field, bool is_filled);
  /// Returns the last rank for which claim() locked the field of the unit.
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
