#pragma once
#include <mutex>
#include <string>

namespace trainrt {

/// The reason why a thread waits for other ranks, for reports by other threads. It is set only if a wait takes long. Any
/// thread may call text().
class WaitReason {
 public:
  /// Returns the object of the calling thread, which lives as long as the thread.
  static WaitReason& of_this_thread();

  void set(const std::string& text);
  /// Sets the reason of work that the thread has started on a device; the thread may wait for it at any place.
  void set_on_device(const std::string& text);
  std::string text() const;  ///< "" if the thread does not wait, or not for long

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::string on_device_;
};

/// One wait of the calling thread. Once report() was called, WaitReason has its text until clear() or the destructor.
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
  /// Ends the wait.
  void clear() {
    if (is_reported_) WaitReason::of_this_thread().set({});
    is_reported_ = false;
  }

 private:
  bool is_reported_ = false;
};

}  // namespace trainrt
