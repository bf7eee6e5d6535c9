#include "program/staging/stage_format.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"

namespace trainrt::program::stage {

const StageFormat& format_of(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0)
    throw UsageError(fmt::format("program.stage: cannot read {} on {}: {}", path, host_name(), std::strerror(errno)));
  for (const auto* format : format_table())
    if (format->fits(path)) return *format;
  std::vector<std::string> kinds;
  for (const auto* format : format_table()) kinds.push_back(fmt::format("{} ({})", format->name, format->help));
  throw UsageError(fmt::format("program.stage: {} has an unknown format; supported: {}", path, join(kinds, "; ")));
}

}  // namespace trainrt::program::stage
