#pragma once
#include <mutex>
#include <string>

namespace trainrt {

/// What a thread waits for other ranks in, left for another thread to read. It is written only if a wait gets long.
class WaitNote {
 public:
  /// The calling thread's; lives as long as that thread.
  static WaitNote& of_this_thread();

  void set(const std::string& text);
  /// The same of what was started for it on a device, which it may wait for anywhere.
  void set_on_device(const std::string& text);
  std::string text() const;  ///< "" while the thread does not wait, or has just begun to; any thread may ask

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::string on_device_;
};

/// The calling thread waits while this lives, once it has said in what.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  ~Waiting() { clear(); }
  bool said() const { return said_; }
  void say(const std::string& text) {
    said_ = true;
    WaitNote::of_this_thread().set(text);
  }
  /// The wait is over.
  void clear() {
    if (said_) WaitNote::of_this_thread().set({});
    said_ = false;
  }

 private:
  bool said_ = false;
};

}  // namespace trainrt
