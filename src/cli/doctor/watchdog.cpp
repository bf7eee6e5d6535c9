#include "cli/doctor/watchdog.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"

namespace trainrt::cli {

void Watchdog::watch(const std::string& what, double limit_seconds) {
  timeout_.emplace(limit_seconds, [this, what, limit_seconds] {
    log::error(
        fmt::format("{} holds this process on {} since {} s: ending. Look at what it uses there (a network file "
                    "system that does not answer, a fabric that is down)",
                    what, host_name(), limit_seconds));
    wait_for_output_delivery();
    launch_.abort(static_cast<int>(ExitCode::failed));
  });
}

}  // namespace trainrt::cli
