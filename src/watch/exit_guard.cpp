#include "watch/exit_guard.hpp"

#include <cstdlib>

#include <trainrt/error.hpp>

#include "core/log.hpp"

namespace trainrt::watch {

ExitGuard::ExitGuard(launch::Launch& launch) {
  static const int registered = std::atexit(end_badly);
  static_cast<void>(registered);
  training_ = &launch;
}

void ExitGuard::end_badly() {
  auto* launch = training_.load();
  if (launch == nullptr) return;
  log::error("the train function ended the process with exit(): return from it instead, or throw");
  launch->abort(static_cast<int>(ExitCode::failed));
}

}  // namespace trainrt::watch
