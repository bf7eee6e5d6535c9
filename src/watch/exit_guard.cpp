#include "watch/exit_guard.hpp"

#include <cstdlib>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_tail.hpp"

namespace trainrt::watch {

ExitGuard::ExitGuard(launch::Launch& launch) {
  static const int registered = std::atexit(abort_step);
  static_cast<void>(registered);
  process_ = getpid();
  training_ = &launch;
}

void ExitGuard::abort_step() {
  auto* launch = training_.load();
  if (launch == nullptr || process_ != getpid()) return;
  OutputCapture::flush();
  const auto printed = OutputCapture::last();
  log::error("the train function ended the process with exit(); it must return or throw instead" +
             (printed.is_shown ? "" : lines_in_words(launch->world().rank, printed.lines)));
  wait_for_output_delivery();
  launch->abort(static_cast<int>(ExitCode::failed));
}

}  // namespace trainrt::watch
