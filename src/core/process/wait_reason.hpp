#pragma once
#include <mutex>
#include <string>

namespace trainrt {

/// The reason why a thread waits for other ranks, such as "all_reduce of 'bucket 2'". Other threads read the reason with
/// text() and print it, for example in a report about a hang. A reason is set only if a wait takes long.
class WaitReason {
 public:
  /// Returns the WaitReason of the calling thread, which exists as long as the thread.
  static WaitReason& of_this_thread();

  void set(const std::string& text);
  /// Sets the reason of a wait for work that this thread has started on a GPU; "" clears it. A reason that set() has set
  /// takes precedence: text() then returns that one.
  void set_on_device(const std::string& text);
  /// Returns the reason; "" if the thread does not wait or has not waited for long. Thread-safe.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::string on_device_;
};

/// One wait of the calling thread for other ranks. report() sets the WaitReason of the thread; clear() or the destructor
/// clears it.
class ReportedWait {
 public:
  ReportedWait() = default;
  ReportedWait(const ReportedWait&) = delete;
  ~ReportedWait() { clear(); }
  bool is_reported() const { return is_reported_; }
  void report(const std::string& text) {
    is_reported_ = true;
    WaitReason::of_this_thread().set(text);
  }
  /// Ends the wait: clears the WaitReason of the thread if report() was called.
  void clear() {
    if (is_reported_) WaitReason::of_this_thread().set({});
    is_reported_ = false;
  }

 private:
  bool is_reported_ = false;
};

}  // namespace trainrt
