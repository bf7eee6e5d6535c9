#pragma once
#include <set>
#include <string>
#include <vector>

namespace trainrt::checkpoint {

/// The whole views (state.h5) that checkpoints of a run lack: those that could not be written, and those that a killed
/// attempt had no time for. A checkpoint is whole without its view; nothing waits for it. Used by one thread at a time.
class OwedViews {
 public:
  /// `aside`: a file that is nobody else's, in the run directory or below it, in which a view is written first.
  OwedViews(std::string run_dir, std::string aside);

  /// The view of that checkpoint could not be written.
  void owe(const std::string& checkpoint_dir);

  /// Makes what is owed, as far as that goes. The first call looks at the newest 16 checkpoints of the run: a start must
  /// not take longer for every old one. Returns a line for each view that cannot be made, each checkpoint once. Does not
  /// throw Error.
  std::vector<std::string> settle();

  bool is_settled() const { return has_looked_ && owed_.empty(); }

 private:
  void look();

  std::string run_dir_;
  std::string aside_;
  bool has_looked_ = false;
  std::set<std::string> owed_;
  std::set<std::string> told_;
};

}  // namespace trainrt::checkpoint
