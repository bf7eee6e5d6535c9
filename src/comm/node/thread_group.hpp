#pragma once
#include <memory>
#include <string>

#include "comm/node/board.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

/// The shared memory of a group of ranks that are threads of one process.
class ThreadGroup {
 public:
  ThreadGroup(int size, double timeout_seconds);

  int size() const { return size_; }
  double timeout_seconds() const { return timeout_seconds_; }
  Board board_of(int rank) const;
  /// Ends the waits of all ranks of the group with an Error, because a rank failed. `why`: reason of the failure, for the
  /// error message.
  void abandon(const std::string& why);

 private:
  int size_;
  double timeout_seconds_;
  Memory memory_;
};

/// The Launch of a rank that is a thread and not a process. Only such ranks can use the communication backend "thread".
class ThreadLaunch : public launch::Launch {
 public:
  ThreadLaunch(std::shared_ptr<ThreadGroup> group, int rank);
  /// Ends the waits of all ranks of the thread group with an error. The process continues.
  void abort(int code) noexcept override;
  const std::shared_ptr<ThreadGroup>& group() const { return group_; }

 private:
  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace trainrt::comm
