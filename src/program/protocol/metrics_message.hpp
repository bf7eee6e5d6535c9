#pragma once
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/metrics.hpp>

#include "program/protocol/channel.hpp"

namespace trainrt::program {

/// Returns the field "metrics" of a message 'report'. Throws a UsageError that names an invalid metric. Pure.
Metrics metrics_from(const Json& body);

/// Returns the fields "directory" and "directory_metadata" of a message 'report'; the path is empty if the rank gives no
/// directory. Throws UsageError for a relative path, because the working directory of the program is unknown. Pure.
DirectoryCheckpoint directory_from(const Json& body);

}  // namespace trainrt::program
