#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// The position of a rank's program, for error messages about programs that make different collective calls.
struct RankCall {
  enum class Kind : std::uint8_t {
    computing,  ///< the program is in its own code
    waiting,    ///< the program waits in the collective call `place`
    left,       ///< the program exited with 0, or its train function returned
  };
  Kind kind = Kind::computing;
  std::string place;      ///< waiting: "report() at train.py:12"; left: "the program" or "the train function"
  std::string last_call;  ///< last call that was answered: "report() at train.py:9"; "" before the first answer
};

/// Gathers the positions of the programs of all ranks, in the order of the ranks. Collective.
std::vector<RankCall> gather_rank_calls(Communicator& communicator, const RankCall& mine);

/// Returns an error message that explains why the ranks cannot continue: "rank 1 left the program while rank 0 waits in
/// report() at train.py:12", or "the ranks do not make the same call: rank 0 is in all_reduce() at train.py:5, rank 1
/// in barrier() at train.py:7". Pure function.
std::string mismatch_in_words(std::span<const RankCall> ranks);

/// Returns the ranks with computing programs, each with its last call: "rank 1 (last call: report() at
/// train.py:9)". Pure function.
std::string missing_in_words(std::span<const RankCall> ranks);

/// Throws an Error which reports that the ranks pass different arguments to the same call. `arguments`: text of the
/// arguments for each rank, not all equal; `places`: position of the call for each rank.
[[noreturn]] void throw_mismatch(std::span<const std::string> arguments, std::span<const std::string> places);

}  // namespace trainrt::program
