#include "core/process/wait_reason.hpp"

namespace trainrt {

WaitNote& WaitNote::of_this_thread() {
  static thread_local WaitNote note;
  return note;
}

void WaitNote::set(const std::string& text) {
  const std::lock_guard lock(mutex_);
  text_ = text;
}

void WaitNote::set_on_device(const std::string& text) {
  const std::lock_guard lock(mutex_);
  on_device_ = text;
}

std::string WaitNote::text() const {
  const std::lock_guard lock(mutex_);
  return text_.empty() ? on_device_ : text_;
}

}  // namespace trainrt
