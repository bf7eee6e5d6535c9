#pragma once
#include <memory>
#include <string>

#include "comm/node/board.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

/// Where ranks that are threads of one process meet.
class ThreadGroup {
 public:
  ThreadGroup(int size, double timeout_seconds);

  int size() const { return size_; }
  double timeout_seconds() const { return timeout_seconds_; }
  Board board_of(int rank) const;
  /// Wakes every waiting rank with an Error: a rank failed, and will not come.
  void abandon(const std::string& why);

 private:
  int size_;
  double timeout_seconds_;
  Memory memory_;
};

/// The launch of a rank that is a thread; the "thread" backend is viable for it alone.
class ThreadLaunch : public launch::Launch {
 public:
  ThreadLaunch(std::shared_ptr<ThreadGroup> group, int rank);
  /// Ends this rank's group, not the process.
  void abort(int code) noexcept override;
  const std::shared_ptr<ThreadGroup>& group() const { return group_; }

 private:
  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace trainrt::comm
