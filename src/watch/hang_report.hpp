#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace trainrt::watch {

/// Where a program that the train function of a rank has started is.
struct StartedProgram {
  std::string location;   ///< "train.py, line 7 in step"; "": unknown
  std::string last_call;  ///< its last collective call: "report() at train.py:12"; "": no call
  std::string stacks;     ///< of all its threads
};

/// The report of one rank about a suspected hang. In logs/hang-attempt-000003/rank-00002.txt the stacks of the rank's
/// threads follow it.
struct RankReport {
  int rank = 0;
  std::string host;
  int pid = 0;
  std::int64_t step = 0;
  std::string phase;
  double quiet_s = 0;          ///< time without progress
  bool excused = false;        ///< the current operation may take long (StallMeter)
  std::string waits_in;        ///< operation in which the rank waits for others; "": it does not wait
  std::string program;         ///< StartedProgram::location
  std::string last_call = {};  ///< StartedProgram::last_call
};

std::string to_text(const RankReport& report);

/// Returns the report at the beginning of `text`, or nullopt if it is incomplete.
std::optional<RankReport> parse_rank_report(const std::string& text);

/// The result of judge_hang().
struct HangVerdict {
  std::string text;       ///< "rank 3 on n2 did not answer (...) while others are at step 812; ranks 0-2 wait in ..."
  std::int64_t step = 0;  ///< maximum step of all ranks
  std::string node =
      {};             ///< the node with all ranks that the others wait for; "" if these are on several nodes, or unknown
  bool hangs = true;  ///< false if all ranks have answered and one of them is excused
};

/// Names the ranks that the others wait for: ranks without a report, ranks that compute while others wait, and ranks at an
/// earlier step than others. `reports` has one entry per rank; `hosts` has one name per rank, or is empty. Pure function.
HangVerdict judge_hang(std::span<const std::optional<RankReport>> reports, std::span<const std::string> hosts);

/// Returns "rank 3" or "ranks 0-2,5". `ranks` must be ascending.
std::string ranks_text(std::span<const int> ranks);

}  // namespace trainrt::watch
