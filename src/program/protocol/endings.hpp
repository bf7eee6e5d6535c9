#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "program/children/child.hpp"
#include "program/children/last_output.hpp"
#include "program/children/program_fell.hpp"
#include "program/protocol/channel.hpp"

namespace trainrt::program {

/// What is wrong with a program besides its exit code.
struct Fault {
  std::string text;       ///< its first line says all; "": nothing
  double found_at_s = 0;  ///< by monotonic_seconds()
  bool is_told = false;   ///< the program said it itself, before it ended
};

/// What a message 'failed' says.
Fault told_by(const Message& failed);

/// How the program of one rank stands, for the ranks to find out together which one fell first.
struct RankEnding {
  std::string host;
  std::int64_t pid = 0;
  bool has_ended = false;
  Ending ending;     ///< if it has ended
  Fault fault;       ///< that it reported, or that was found in it
  double age_s = 0;  ///< of its end or its fault, at a moment that all ranks share
};

/// This rank's to all, in the order of the ranks. Collective.
std::vector<RankEnding> gather_endings(Communicator& communicator, Child& child, const Fault& fault = {});

/// The rank whose program took the others with it: that the first death by a signal befell, if there was one, since its
/// peers can be quicker to see its connections break than the kernel is to end it. Else the one that was the first to end
/// badly. SIGABRT is no such signal: a program that finds its peers gone may raise it itself. -1 if none has ended badly.
/// Pure.
int first_to_fall(std::span<const RankEnding> ranks);

/// Rank `first`'s, whose program is `child` there, to all. Collective.
LastOutput share_output(Communicator& communicator, const Child& child, int first);

/// "the program of rank 1 on n2 (process 7) exited with 1: ValueError: bad batch; those of 2 other ranks ended after it",
/// and the last lines of its output. Pure.
std::string fall_in_words(std::span<const RankEnding> ranks, int first, const LastOutput& output);

/// The error with that text. Its code is usage if the program of rank `first` exited with 64, which a restart does not
/// help, else failed. Pure.
ProgramFell fall_of(std::span<const RankEnding> ranks, int first, const LastOutput& output);

}  // namespace trainrt::program
