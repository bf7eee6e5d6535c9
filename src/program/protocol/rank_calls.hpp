#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// The collective call that a rank's program is in, for error messages about ranks that make different calls.
struct RankCall {
  enum class Kind : std::uint8_t {
    computing,  ///< the program is in its own code
    waiting,    ///< it waits in the call `place`
    left,       ///< it exited with 0, or its train function returned
  };
  Kind kind = Kind::computing;
  std::string place;      ///< waiting: "report() at train.py:12"; left: "the program" or "the train function"
  std::string last_call;  ///< previous call that was answered, "report() at train.py:9"; "" before the first
};

/// Returns the calls of all ranks, by rank. Collective.
std::vector<RankCall> gather_rank_calls(Communicator& communicator, const RankCall& mine);

/// Returns why the ranks cannot continue: "rank 1 left the program while rank 0 waits in report() at train.py:12", or "the
/// ranks do not make the same call: rank 0 is in all_reduce() at train.py:5, rank 1 in barrier() at train.py:7". Pure.
std::string mismatch_in_words(std::span<const RankCall> ranks);

/// Returns the ranks that are computing, with their last calls: "rank 1 (last call: report() at train.py:9)". Pure.
std::string missing_in_words(std::span<const RankCall> ranks);

/// Throws the Error of ranks that pass different arguments to the same call. `arguments`: text for each rank, not all
/// equal; `places`: place of each rank's call.
[[noreturn]] void throw_mismatch(std::span<const std::string> arguments, std::span<const std::string> places);

}  // namespace trainrt::program
