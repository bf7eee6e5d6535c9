#pragma once
#include <string>
#include <vector>

namespace trainrt::tune {

/// What the ranks of a trial are started with.
struct TrialStart {
  std::vector<std::string> words;  ///< of its run: --config FILE --section.key=value ...
  std::string trial;               ///< trial_callback()'s
  std::string output;              ///< the file to which what they print is appended
};

/// Where the trials of a group run, one after the other.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Runs a trial to its end. Returns its exit code as a shell has it: 128 + N if signal N ended it. Throws Error if it
  /// cannot be started.
  virtual int run(const TrialStart& start) = 0;
  /// Once a second or so while there is no trial to run.
  virtual void idle() {}
  /// Any thread: the trial that runs, or the next if none does, is to stop and save.
  virtual void stop() = 0;
};

}  // namespace trainrt::tune
