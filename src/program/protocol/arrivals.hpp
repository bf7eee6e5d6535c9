#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// Where the program of one rank is, for messages about ranks that do not make the same calls.
struct Arrival {
  enum class Kind : std::uint8_t {
    computes,  ///< it is in its own code
    calls,     ///< it waits in `place`
    left,      ///< it ended with exit code 0, or its train function returned
  };
  Kind kind = Kind::computes;
  std::string place;      ///< calls: "report() at train.py:12"; left: what it left, "the program"
  std::string last_call;  ///< the call before that was answered: "report() at train.py:9"; "" if there was none
};

/// Returns the arrivals of all ranks, by rank. Collective.
std::vector<Arrival> gather_arrivals(Communicator& communicator, const Arrival& mine);

/// Why the ranks cannot go on together: "rank 1 left the program while rank 0 waits in report() at train.py:12", or "the
/// ranks do not make the same call: rank 0 is in all_reduce() at train.py:5, rank 1 in barrier() at train.py:7". Pure.
std::string difference_in_words(std::span<const Arrival> ranks);

/// The ranks that compute, with their last calls: "rank 1 (last call: report() at train.py:9)". Pure.
std::string missing_in_words(std::span<const Arrival> ranks);

/// Throws the Error of ranks that come to one call with other arrays. `ranks`: what each came with, which is not the same;
/// `places`: the calls.
[[noreturn]] void refuse_difference(std::span<const std::string> ranks, std::span<const std::string> places);

}  // namespace trainrt::program
