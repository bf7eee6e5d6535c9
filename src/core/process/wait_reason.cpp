#include "core/process/wait_reason.hpp"

namespace trainrt {

WaitReason& WaitReason::of_this_thread() {
  static thread_local WaitReason note;
  return note;
}

void WaitReason::set(const std::string& text) {
  const std::lock_guard lock(mutex_);
  text_ = text;
}

void WaitReason::set_on_device(const std::string& text) {
  const std::lock_guard lock(mutex_);
  on_device_ = text;
}

std::string WaitReason::text() const {
  const std::lock_guard lock(mutex_);
  return text_.empty() ? on_device_ : text_;
}

}  // namespace trainrt
