#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainrt::watch {

/// Current source line, last collective call and stacks of a program that a rank's train function has started.
struct StartedProgram {
  std::string location;   ///< current source line: "train.py, line 7 in step"; "": unknown
  std::string last_call;  ///< the program's last collective call: "report() at train.py:12"; "": no call
  std::string stacks;     ///< stacks of all threads of the program
};

/// The report of one rank about a suspected hang. It is the beginning of the file logs/hang-attempt-000003/rank-00002.txt,
/// followed by the stacks of the rank's threads.
struct RankReport {
  int rank = 0;
  std::string host;
  int pid = 0;
  std::int64_t step = 0;
  std::string phase;
  double quiet_s = 0;          ///< seconds without progress
  bool excused = false;        ///< true if the current operation may take long (see StallMeter)
  std::string waits_in;        ///< operation in which the rank waits for other ranks; "": the rank does not wait
  std::string program;         ///< current source line of the rank's program (StartedProgram::location)
  std::string last_call = {};  ///< last collective call of the rank's program (StartedProgram::last_call)
};

std::string to_text(const RankReport& report);

/// Parses the report of a rank at the beginning of `text`. Returns nullopt if the report is incomplete.
std::optional<RankReport> parse_rank_report(const std::string& text);

/// The result of judge_hang(): whether the ranks hang, and which ranks are late (the others wait for them).
struct HangVerdict {
  /// description for the user: "rank 3 on n2 did not answer (...) while others are at step 812; ranks 0-2 wait in ..."
  std::string text;
  std::int64_t step = 0;  ///< maximum training step that a rank has reported
  /// Node of all late ranks, for which the others wait; "" if they are on several nodes, or unknown.
  std::string node = {};
  std::optional<int> late_rank = {};  ///< first late rank; nullopt if no rank is late
  bool hangs = true;  ///< false if all ranks have reported and one of them is excused (its operation may take long)
};

/// Finds the late ranks, for which the others wait. A rank is late if it has written no report, if it computes while others
/// wait, or if it is at an earlier step than others. `reports` has one entry per rank; `hosts` has one host name per rank,
/// or is empty. Pure function.
HangVerdict judge_hang(std::span<const std::optional<RankReport>> reports, std::span<const std::string> hosts);

/// The stacks that follow the report of a rank in its file.
struct RankStacks {
  std::string train_thread;
  std::string other_threads;
  std::string program;  ///< StartedProgram::stacks
};

/// Returns the contents of the file with a rank's report and stacks.
std::string report_file(const RankReport& report, const RankStacks& stacks);

/// Returns those stacks in `file`, a text of report_file(), that show where the rank hangs. These are the stacks of its
/// program if it runs a program, otherwise the stack of its train thread. Returns "" if `file` has no stacks. Pure
/// function.
std::string stacks_in(std::string_view file);

/// Returns the rank numbers as text, such as "rank 3" or "ranks 0-2,5". `ranks` must be ascending.
std::string ranks_text(std::span<const int> ranks);

}  // namespace trainrt::watch
