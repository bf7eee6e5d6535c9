#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace trainrt::watch {

/// A program that the train function of a rank has started.
struct StartedProgram {
  std::string place;      ///< where it is: "train.py, line 7 in step"; "" if that is not known
  std::string last_call;  ///< the last collective call that it made: "report() at train.py:12"; "" if there was none
  std::string stacks;     ///< of all its threads
};

/// What one rank says of itself when the ranks have come to a halt: logs/hang-attempt-000003/rank-00002.txt, where its
/// threads' stacks follow.
struct RankReport {
  int rank = 0;
  std::string host;
  int pid = 0;
  std::int64_t step = 0;
  std::string phase;
  double quiet_s = 0;          ///< without a sign of progress
  bool excused = false;        ///< what it is at may take long (StallMeter)
  std::string waits_in;        ///< for other ranks, in which operation; "" = in none
  std::string program;         ///< StartedProgram::place
  std::string last_call = {};  ///< StartedProgram::last_call
};

std::string to_text(const RankReport& report);

/// The report at the beginning of a file; nullopt if it is not whole.
std::optional<RankReport> parse_rank_report(const std::string& text);

/// What the reports show of whom the others wait for.
struct HangVerdict {
  std::string text;       ///< "rank 3 on n2 did not answer (...) while others are at step 812; ranks 0-2 wait in ..."
  std::int64_t step = 0;  ///< the last one that a rank has come to
  std::string node = {};  ///< at which alone the others wait for ranks; "" if at several, or at none
  bool hangs = true;      ///< no: all ranks have answered, and one of them is excused
};

/// Names those behind: ranks without a report, ranks that compute while others wait, ranks at an earlier step than others.
/// A report a rank; `hosts` as many names, or none. Pure.
HangVerdict judge_hang(std::span<const std::optional<RankReport>> reports, std::span<const std::string> hosts);

/// "rank 3", "ranks 0-2,5"; ascending.
std::string ranks_text(std::span<const int> ranks);

}  // namespace trainrt::watch
