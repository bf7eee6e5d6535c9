#pragma once
#include <string>
#include <vector>

namespace trainrt::tune {

/// The arguments with which the ranks of a trial are started.
struct TrialStart {
  std::vector<std::string> words;  ///< arguments of the run: --config FILE --section.key=value ...
  std::string trial;               ///< value of trial_variable
  std::string output;              ///< file to which the ranks' output is appended
  int ranks = 1;                   ///< number of ranks
};

/// Runs the trials of a group, one after the other.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Runs a trial until it ends. Returns its exit code; 128 + N if signal N ended it. Throws Error if it cannot be started.
  virtual int run(const TrialStart& start) = 0;
  /// Called about once a second while there is no trial to run.
  virtual void idle() {}
  /// Asks the running trial to save and stop. Between two trials, the request applies to the next one. Any thread may
  /// call it.
  virtual void stop() = 0;
};

}  // namespace trainrt::tune
