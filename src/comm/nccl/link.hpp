#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "comm/nccl/api.hpp"
#include "core/process/wait_reason.hpp"
#include "device/runtime.hpp"

namespace trainrt::comm::nccl {

/// One rank's end of an NCCL communicator. NCCL never blocks here: its calls return at once, and what they have come to is
/// asked for, with a limit. A thread watches what is under way on the GPU: if NCCL reports an error, or the first of it
/// takes longer than the limit, it aborts the communicator. The kernels that wait for other ranks end then, so that nothing
/// that waits for the GPU waits for ever, and every later call throws Error with the reason (CollectiveTimeout, if that is
/// time).
class Link {
 public:
  struct Member {
    int rank = 0;
    int size = 1;
    int gpu = 0;
    double limit_seconds = 1800;
  };
  /// On the train thread, which outlives it. Joins the others of that id; the thread's current GPU is Member::gpu. Error
  /// if that fails or takes too long.
  Link(std::shared_ptr<const Api> api, const UniqueId& id, const Member& place);
  /// Waits a while for what is under way; what does not end is aborted.
  ~Link();
  Link(const Link&) = delete;

  /// The calls, as one group of NCCL's. Returns when they are on their stream.
  void enqueue(const std::string& what, const std::function<Result(const Api&, Comm*)>& calls);
  /// Watches until the event comes. `what` is in the error if it does not.
  void watch(std::shared_ptr<device::Event> event, std::string what);
  /// Throws Error with the reason, CollectiveTimeout if that is time, if it was aborted.
  void require_whole();

 private:
  struct Watched {
    std::shared_ptr<device::Event> event;
    std::string what;
  };
  Result settled(double limit_seconds);
  std::string text_of(Result result) const;
  [[noreturn]] void fail(const std::string& what, Result result);
  /// Why the communicator is of no use any more.
  struct Trouble {
    std::string text;     ///< "" = it is whole
    std::string overdue;  ///< the operation, if that took longer than the limit
  };
  void break_off(Trouble why);
  [[noreturn]] void refuse() const;
  void watch_loop();
  Trouble trouble();
  void note_wait();
  bool all_done_within(double seconds);

  std::shared_ptr<const Api> api_;
  Member place_;
  WaitReason& note_;  // the train thread's

  std::mutex comm_mutex_;  // held if NCCL is called
  Comm* comm_ = nullptr;   // nullptr: aborted
  Trouble broken_;

  std::mutex watch_mutex_;
  std::condition_variable changed_;
  std::deque<Watched> watched_;
  bool noted_ = false;
  double since_ = 0;  // when the first of these became the first
  bool ending_ = false;
  std::thread watchdog_;
};

}  // namespace trainrt::comm::nccl
