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
/// monitors the collectives on the GPU: if NCCL reports an error, or the oldest collective exceeds the timeout, it aborts
/// the communicator. Kernels that wait for other ranks then end, so that no wait for the GPU is endless, and every later
/// call throws Error with the reason (CollectiveTimeout after a timeout).
class NcclHandle {
 public:
  /// This rank's place among the ranks of the NCCL communicator.
  struct Member {
    int rank = 0;
    int size = 1;
    int gpu = 0;
    double limit_seconds = 1800;
  };
  /// Joins the NCCL communicator with this `id`. Collective. Must be called on the train thread, which must outlive the
  /// object, with Member::gpu as the current GPU. Throws Error if that fails, and CollectiveTimeout after the timeout.
  NcclHandle(std::shared_ptr<const Api> api, const UniqueId& id, const Member& member);
  /// Waits up to 30 seconds for the collectives in progress, and then aborts them.
  ~NcclHandle();
  NcclHandle(const NcclHandle&) = delete;

  /// Makes `calls` as one NCCL group. Returns after they were enqueued on their stream. `what` names them in messages.
  void enqueue(const std::string& what, const std::function<Result(const Api&, Comm*)>& calls);
  /// Adds a collective to those that the watchdog monitors. `event`: is reached when it is complete. `what`: its name in
  /// errors.
  void watch(std::shared_ptr<device::Event> event, std::string what);
  /// Throws Error with the reason if the communicator was aborted, and CollectiveTimeout if the reason was a timeout.
  void require_usable();

 private:
  struct Watched {
    std::shared_ptr<device::Event> event;
    std::string what;
  };
  Result wait_until_settled(double limit_seconds);
  std::string text_of(Result result) const;
  [[noreturn]] void fail(const std::string& what, Result result);
  /// The reason why the communicator was aborted.
  struct AbortReason {
    std::string text;  ///< "": not aborted
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
  WaitReason& note_;  // belongs to the train thread

  std::mutex comm_mutex_;  // held during calls of NCCL
  Comm* comm_ = nullptr;   // nullptr after it was aborted
  AbortReason abort_reason_;

  std::mutex watch_mutex_;
  std::condition_variable changed_;
  std::deque<Watched> watched_;
  bool noted_ = false;
  double since_ = 0;  // when the first of watched_ became the first; monotonic seconds
  bool ending_ = false;
  std::thread watchdog_;
};

}  // namespace trainrt::comm::nccl
