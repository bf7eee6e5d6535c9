#include "cli/doctor/watchdog.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"

namespace trainrt::cli {

void Watchdog::watch(const std::string& operation, double limit_seconds) {
  timeout_.emplace(limit_seconds, [this, operation, limit_seconds] {
    log::error(
        fmt::format("{} has not finished on {} after {} s; ending all ranks. Check for a network file system that does not "
                    "respond, or a network that is down",
                    operation, host_name(), limit_seconds));
    wait_for_output_delivery();
    launch_.abort(static_cast<int>(ExitCode::failed));
  });
}

}  // namespace trainrt::cli
