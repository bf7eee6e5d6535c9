#pragma once
#include <cstddef>
#include <cstdint>

#include "data/node_memory/unit_layout.hpp"

namespace trainrt::data {

/// For each unit and field: whether its values are in memory, and a lock for the thread that reads them. The states are in
/// memory that several processes share, each at its own address. The lock of a process that dies is released by the kernel.
/// Any threads may call the functions at the same time.
class UnitStates {
 public:
  /// Returns the size of the states.
  static std::size_t bytes(const UnitLayout& layout);
  /// Initializes the states in zeroed memory. One process calls it, before any process uses them.
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
  /// Waits for the lock of a unit for at most `wait_s` seconds. `rank` is the caller's, for busy_rank().
  Claim claim(std::size_t unit, std::size_t field, int rank, double wait_s);
  /// Releases the lock of a unit. `is_filled`: whether its values are complete now.
  void release(std::size_t unit, std::size_t field, bool is_filled);
  /// Returns the rank that claimed the unit last.
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
