#pragma once
#include <string>
#include <string_view>

#include "program/children/child.hpp"

namespace trainrt::program {

/// What the error says of a program's output when the program has failed: all in text that a terminal can take.
struct LastOutput {
  std::string exception;  ///< "ValueError: bad batch"; "" if no Python exception ended it
  std::string lines;      ///< at most 20, and 8 KiB; "" if it printed nothing

  bool operator==(const LastOutput&) const = default;
};

/// From the end of a program's output. Pure.
LastOutput last_output(std::string_view output);

/// What follows "the program of rank 1 ...": " exited with 1: ValueError: bad batch". Of one that was killed no exception
/// is the reason. Pure.
std::string ending_in_words(const Ending& ending, const LastOutput& output);

}  // namespace trainrt::program
