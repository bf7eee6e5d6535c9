#include "metrics/progress.hpp"

#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/host.hpp"

namespace trainrt::metrics {

namespace {

Screen standard_output() {
  Screen screen;
  screen.terminal = isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (screen.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.width = size.ws_col;
  screen.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  return screen;
}

}  // namespace

namespace plugins {

extern const SinkKind progress{.name = "progress",
                               .help = "how the run gets on, on standard output",
                               .open = [](const SinkContext& context) -> std::unique_ptr<Sink> {
                                 return std::make_unique<Progress>(context.run_name, standard_output(), monotonic_seconds);
                               }};

}  // namespace plugins

}  // namespace trainrt::metrics
