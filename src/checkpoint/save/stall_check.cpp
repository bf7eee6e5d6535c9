#include "checkpoint/save/stall_check.hpp"

#include <utility>

#include <fmt/format.h>

#include "checkpoint/checkpoint_error.hpp"
#include "core/host.hpp"

namespace trainrt::checkpoint {

StallCheck::StallCheck(std::string what, double limit_s, std::uint64_t bytes_done)
    : what_(std::move(what)), limit_s_(limit_s), seen_(bytes_done), since_s_(monotonic_seconds()) {}

void StallCheck::require_progress(std::uint64_t bytes_done) {
  const double now = monotonic_seconds();
  if (bytes_done != std::exchange(seen_, bytes_done)) since_s_ = now;
  if (now - since_s_ <= limit_s_) return;
  throw SaveStalled(fmt::format("{} makes no progress: no byte was written in {:.0f} s", what_, limit_s_), limit_s_);
}

}  // namespace trainrt::checkpoint
