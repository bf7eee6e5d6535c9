#pragma once
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/metrics.hpp>

#include "program/protocol/channel.hpp"

namespace trainrt::program {

/// What the message 'report' of a program has in "metrics" (conversation.hpp). UsageError, with the metric's name, for what
/// is none. Pure.
Metrics metrics_from(const Json& body);

/// What it has in "directory" and "directory_metadata"; no path if the rank gives no directory. UsageError for a path that
/// is not absolute: the program's working directory is not known. Pure.
DirectoryCheckpoint directory_from(const Json& body);

}  // namespace trainrt::program
