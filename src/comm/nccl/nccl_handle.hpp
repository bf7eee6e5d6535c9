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

/// Owns this rank's NCCL communicator. NCCL's calls do not block; their state is polled, with a timeout. A watchdog thread
/// monitors the collectives on the GPU:
/// - If NCCL reports an error, or the oldest collective exceeds the timeout, the watchdog aborts the communicator.
/// - GPU kernels that wait for other ranks then end, so that no wait for the GPU is endless.
/// - Every later call throws Error with the reason (CollectiveTimeout after a timeout).
class NcclHandle {
 public:
  /// This rank's membership in the NCCL communicator: its rank, its GPU, the number of ranks and the timeout.
  struct Member {
    int rank = 0;
    int size = 1;
    int gpu = 0;
    double limit_seconds = 1800;
  };
  /// Joins the NCCL communicator with this `id`. Collective. Must be called on the thread that runs the train function,
  /// with Member::gpu as its current GPU; the thread must outlive this object. Throws Error if joining fails, and
  /// CollectiveTimeout after the timeout.
  NcclHandle(std::shared_ptr<const Api> api, const UniqueId& id, const Member& member);
  /// Waits up to 30 seconds for the collectives in progress. If they are not complete by then, aborts the NCCL
  /// communicator.
  ~NcclHandle();
  NcclHandle(const NcclHandle&) = delete;

  /// Runs `calls`, a function that calls NCCL, as one NCCL group. Returns after NCCL has enqueued the group on its stream.
  /// `what`: name of the group in error messages.
  void enqueue(const std::string& what, const std::function<Result(const Api&, Comm*)>& calls);
  /// Adds a collective to those that the watchdog monitors. `event`: event that is reached when the collective is complete.
  /// `what`: name of the collective in error messages.
  void watch(std::shared_ptr<device::Event> event, std::string what);
  /// Throws if the NCCL communicator was aborted: CollectiveTimeout if the reason was a timeout, otherwise Error. The
  /// message is the reason.
  void require_usable();

 private:
  struct Watched {
    std::shared_ptr<device::Event> event;
    std::string what;
  };
  Result wait_until_settled(double limit_seconds);
  std::string text_of(Result result) const;
  [[noreturn]] void fail(const std::string& what, Result result);
  /// The reason why the NCCL communicator was aborted.
  struct AbortReason {
    std::string text;  ///< "": the communicator was not aborted
    bool is_timeout = false;
  };
  void abort_communicator(AbortReason why);
  [[noreturn]] void throw_aborted() const;
  void watch_loop();
  AbortReason find_failure();
  void note_wait();
  bool all_done_within(double seconds);

  std::shared_ptr<const Api> api_;
  Member member_;
  WaitReason& note_;  // wait reason of the thread that runs the train function

  std::mutex comm_mutex_;  // held during calls of NCCL; protects comm_ and abort_reason_
  Comm* comm_ = nullptr;   // the NCCL communicator; nullptr after it was aborted
  AbortReason abort_reason_;

  std::mutex watch_mutex_;
  std::condition_variable changed_;
  std::deque<Watched> watched_;
  bool noted_ = false;
  double since_ = 0;  // time at which watched_.front() became the oldest collective, in monotonic seconds
  bool ending_ = false;
  std::thread watchdog_;
};

}  // namespace trainrt::comm::nccl
