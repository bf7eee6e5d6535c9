#pragma once
#include <cstddef>
#include <cstdint>

#include "data/node_memory/unit_layout.hpp"

namespace trainrt::data {

/// Which units of which fields are there, and whose turn it is to read one: in memory that processes share, each at an
/// address of its own. The kernel ends the turn of a process that dies.
class UnitStates {
 public:
  static std::size_t bytes(const UnitLayout& layout);
  /// Makes them in zeroed memory, on one of the processes, before any looks.
  static void make(std::byte* memory, const UnitLayout& layout);

  UnitStates(std::byte* memory, const UnitLayout& layout);
  bool is_filled(std::size_t unit, std::size_t field) const;
  std::size_t filled(std::size_t field) const;  ///< how many units are

  enum class Turn : std::uint8_t {
    mine,       ///< nobody has filled it: this thread may, and calls end()
    is_filled,  ///< by now
    over,       ///< another one still reads it: busy_rank() is likely to be the one
  };
  /// Waits so long for the one whose turn it is.
  Turn begin(std::size_t unit, std::size_t field, int rank, double wait_s);
  void end(std::size_t unit, std::size_t field, bool is_filled);
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
