// Launcher plug-in "alone": a single process that no launcher started, with a World of size 1.
#include <unistd.h>

#include "core/output/output_capture.hpp"
#include "core/output/terminal.hpp"
#include "launch/launcher.hpp"

namespace trainrt::launch::plugins {

namespace {

class AloneLaunch : public Launch {
 public:
  AloneLaunch() { world_.node_of_rank = {0}; }
  void abort(int code) noexcept override {
    OutputCapture::restore_at_exit();
    last_row::restore_at_exit();
    _exit(code);
  }
};

}  // namespace

extern const Launcher alone;
const Launcher alone{.name = "alone",
                     .help = "one process, started by hand",
                     .preference = 0,
                     .viable = [](const Environment&) { return true; },
                     .open = [](const Environment&, const LaunchOptions&) -> std::unique_ptr<Launch> {
                       return std::make_unique<AloneLaunch>();
                     }};

}  // namespace trainrt::launch::plugins
