#include "watch/exit_guard.hpp"

#include <cstdlib>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/log.hpp"
#include "core/output_tail.hpp"
#include "core/own_output.hpp"

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
  OwnOutput::flush();
  const auto printed = OwnOutput::last();
  log::error("the train function ended the process with exit(); it must return or throw instead" +
             (printed.is_shown ? "" : lines_in_words(launch->world().rank, printed.lines)));
  let_words_arrive();
  launch->abort(static_cast<int>(ExitCode::failed));
}

}  // namespace trainrt::watch
